package hunt

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/dlmtest/dlmtest/internal/golden"
)

// Whatever stands in a hunt.json, it is an error or a folder with its pages; and what is saved is read back, to the same pages.
func FuzzDecode(f *testing.F) {
	good, err := os.ReadFile(filepath.Join("testdata", ReportFile))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(bytes.ReplaceAll(good, []byte(`"shrunk": false`), []byte(`"shrunk": true`)))
	f.Add(bytes.ReplaceAll(good, []byte("release-by-owner"), []byte(`\u0000|<script>`)))
	f.Add([]byte(`{"format":1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := Decode(ReportFile, text)
		if err != nil {
			return
		}
		dir := t.TempDir()
		in := golden.Root(t, dir)
		var pages [2]bytes.Buffer
		for i := range pages {
			if err := r.Save(in); err != nil {
				t.Fatal(err)
			}
			if err := r.Markdown(&pages[i]); err != nil {
				t.Fatal(err)
			}
			if err := r.HTML(&pages[i], r.pictures(in)); err != nil {
				t.Fatal(err)
			}
			pages[i].WriteString(r.Summary())
			if r, err = Read(dir); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(pages[0].Bytes(), pages[1].Bytes()) {
			t.Error("other pages after it was saved and read")
		}
	})
}

// Whatever stands in trials.jsonl, it is an error, or each whole line is a trial.
func FuzzTrials(f *testing.F) {
	f.Add([]byte("{\"number\": 1, \"seed\": 2, \"scenario\": \"x\"}\n{\"number\": 2, \"se"))
	f.Add([]byte("{}\n\n[]\n"))
	f.Add([]byte(`{"seen": {"features": ["a", "b"]}}` + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, trialsFile), text, 0o644); err != nil {
			t.Fatal(err)
		}
		all, whole, err := readTrials(golden.Root(t, dir))
		switch {
		case err != nil && len(all) > 0:
			t.Errorf("%d trials beside %v", len(all), err)
		case err == nil && (whole != int64(bytes.LastIndexByte(text, '\n')+1) || len(all) != bytes.Count(text, []byte("\n"))):
			t.Errorf("%d trials in %d bytes of %q", len(all), whole, text)
		}
	})
}
