package runner

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/clusters"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/visible"
	"github.com/dlmtest/dlmtest/locks/libraries"
	"github.com/dlmtest/dlmtest/locks/protocol"
)

// filesAt is where client nodes see the files of the user's adapter.
const filesAt = "/adapter"

func (o Options) adapterFiles() []clusters.Mount {
	if o.Files == "" {
		return nil
	}
	path, err := filepath.Abs(o.Files)
	if err != nil {
		path = o.Files // there is no working directory; the mount will tell
	}
	return []clusters.Mount{{Type: "bind", Source: path, Target: filesAt, ReadOnly: true}}
}

// mostOfAdapter is how many files an adapter's folder may have: an environment with all of
// its libraries has some ten thousand. More are not looked at, and so are refused.
const mostOfAdapter = 1_000_000

// filesAlone refuses a folder through which an adapter could talk to a process of the
// machine: read-only keeps nobody from a socket or a pipe.
func (o Options) filesAlone() error {
	if o.Files == "" {
		return nil
	}
	if found := clusters.Lives(o.Files, mostOfAdapter); found != "" {
		return fmt.Errorf("%w: --adapter-files %s %s; clients would reach it: give a folder with the adapter's files alone", ErrUsage, o.Files, found)
	}
	return nil
}

// readable refuses files that the clients cannot read. In Docker they are nobody, who has no
// more rights on the machine's files than a stranger, and not the user who starts dlmtest.
func (o Options) readable() error {
	if o.Files == "" {
		return nil
	}
	paths := map[string]os.FileMode{o.Files: 0o005}
	for _, word := range o.Adapter {
		if below, ok := strings.CutPrefix(word, filesAt+"/"); ok {
			paths[filepath.Join(o.Files, below)] = 0o004
		}
	}
	for path, bits := range paths {
		if info, err := os.Stat(path); err == nil && info.Mode()&bits != bits { // what is not there the adapter's start will tell
			return fmt.Errorf("%w: --adapter-files: %s is %v, and clients in Docker run as nobody, who cannot read it; chmod -R o+rX %s",
				ErrUsage, path, info.Mode().Perm(), o.Files)
		}
	}
	return nil
}

// clientImage is what client nodes run in.
func (o Options) clientImage() string {
	l, _ := libraries.Get(o.Library) // the reference has none of its own
	return cmp.Or(o.Image, l.Image, clusters.ClientImage)
}

// greeted takes note of what an adapter says of itself, before anything is judged by it:
// nobody knows it earlier, as it runs in its node alone.
func (s *stage) greeted(n *node, h *protocol.Result) error {
	if h == nil {
		return nil
	}
	s.greeting.Lock()
	defer s.greeting.Unlock()
	if s.hello != "" && s.hello != fmt.Sprint(*h) {
		return fmt.Errorf("%s: its adapter says %v, that of another client said %s", n.Name(), *h, s.hello)
	}
	if s.hello != "" {
		return nil
	}
	s.hello = fmt.Sprint(*h)
	if len(s.Adapter) == 0 {
		return s.pinned(h)
	}
	entry := libraries.Told(s.entry, *h)
	if err := s.fits(entry); err != nil {
		return err
	}
	s.setup.Promise = s.promise(entry)
	return s.rec.restate(s.setup)
}

// pinned compares the version that is there with the one that was asked for.
func (s *stage) pinned(h *protocol.Result) error {
	if _, want, ok := strings.Cut(s.Library, "@"); ok && want != h.Library {
		return fmt.Errorf("--library %s: the client's node has version %s", s.Library, h.Library)
	}
	s.setup.Promise.Version = h.Library
	return s.rec.restate(s.setup)
}

// stopLimit is how long clients may take to finish the round in hand and to end.
func (s *stage) stopLimit() time.Duration {
	limit := 2*s.lease + 2*time.Second
	if s.hello != "" {
		limit += protocol.CloseMax
	}
	return limit
}

// restate writes the history's first line anew, with what is known now of the lock.
func (r *recorder) restate(setup history.Setup) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.lines.Sync(); err != nil {
		return err
	}
	if err := r.file.Truncate(0); err != nil {
		return err
	}
	if _, err := r.file.Seek(0, 0); err != nil {
		return err
	}
	lines, err := history.NewWriter(visible.File(r.file), setup)
	if err != nil {
		return err
	}
	r.lines = lines
	for _, op := range r.ops {
		if err := lines.Append(op); err != nil {
			return err
		}
	}
	return nil
}

// blame is what an adapter did against the protocol; nil: nothing.
func (r *recorder) blame() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.blamed
}
