package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// What became of a mistake.
const (
	killed    = "killed"    // a test noticed it
	survived  = "survived"  // tests come by it, and none noticed it
	unreached = "unreached" // no test comes by it
)

// result is what became of one mistake.
type result struct {
	Verdict string `json:"verdict"`
	By      string `json:"by,omitempty"`    // the test that noticed it
	Hung    bool   `json:"hung,omitempty"`  // by taking too long
	Tried   string `json:"tried,omitempty"` // on how many random histories it was not noticed
	Hash    string `json:"hash"`            // of the file that it is planted in
	Sources string `json:"sources"`         // of all files of the package and its tests
}

// results are kept in a file from one call to the next.
type results struct {
	path  string
	mu    sync.Mutex
	All   map[string]result `json:"results"` // by place and change
	saved time.Time
}

func load(path string) (*results, error) {
	k := &results{path: path, All: map[string]result{}, saved: time.Now()}
	data, err := os.ReadFile(path)
	if path == "" || errors.Is(err, fs.ErrNotExist) {
		return k, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, k); err != nil || k.All == nil {
		return nil, fmt.Errorf("%s is no file of results (%w): remove it to begin anew", path, err)
	}
	return k, nil
}

func (m mistake) key() string { return m.at + ": " + m.what }

func (k *results) of(m mistake) result {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.All[m.key()]
}

// settled says that a mistake was tried on so many random histories, and that nothing
// has changed since that could change what became of it. One that is listed as changing
// nothing is tried on few, and again when its file changes.
func (k *results) settled(m mistake, sources, count string) bool {
	r := k.of(m)
	if _, same := excused(m); same && r.Verdict != "" {
		return r.Hash == m.hash
	}
	tried := r.Verdict == unreached || r.Tried == count || r.Tried == many
	return r.Hash == m.hash && (r.Verdict == killed || r.Verdict != "" && r.Sources == sources && tried)
}

// add keeps a result, and writes the file every few seconds.
func (k *results) add(m mistake, r result) error {
	k.mu.Lock()
	k.All[m.key()] = r
	late := time.Since(k.saved) > 5*time.Second
	k.mu.Unlock()
	if late {
		return k.save()
	}
	return nil
}

// save writes the file whole or not at all.
func (k *results) save() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.saved = time.Now()
	if k.path == "" {
		return nil
	}
	data, err := json.MarshalIndent(k, "", " ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(k.path), 0o755)
	}
	if err == nil {
		err = os.WriteFile(k.path+".new", data, 0o644)
	}
	if err == nil {
		err = os.Rename(k.path+".new", k.path)
	}
	return err
}

func hash(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data))[:16] }

// hashAll is the hash of all Go files of packages, their tests too.
func hashAll(dirs ...string) (string, error) {
	var all bytes.Buffer
	for _, dir := range slices.Compact(dirs) {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			return "", err
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				return "", err
			}
			all.Write(data)
		}
	}
	return hash(all.Bytes()), nil
}
