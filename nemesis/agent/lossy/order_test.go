package lossy

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestKeepingLongContentWaitsForNoName: who removes the last name of a file waits for the
// file with the names locked, so a truncation of it must not wait for the names.
func TestKeepingLongContentWaitsForNoName(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(file, 2*spillFrom); err != nil {
		t.Fatal(err)
	}
	v, err := openVolume(Options{Backing: dir})
	if err != nil {
		t.Fatal(err)
	}
	v.ns.Lock()
	n, e := v.child(v.root, "f")
	if e != 0 {
		t.Fatal(e)
	}
	fd, e := v.fd(n)
	if e != 0 {
		t.Fatal(e)
	}
	done := make(chan error, 1)
	go func() {
		if e := v.truncate(n, fd, 0); e != 0 {
			done <- e
		}
		close(done)
	}()
	select {
	case err = <-done:
		v.ns.Unlock()
	case <-time.After(10 * time.Second):
		t.Error("a truncation waits for the names, which are locked by who waits for it")
		v.ns.Unlock()
		err = <-done
	}
	if err != nil {
		t.Error(err)
	}
	v.close()
}
