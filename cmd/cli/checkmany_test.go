package cli

import (
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestVerdictBesideIsNoPipe: what lies beside a history was named by nobody, so a pipe in
// its place is not waited for.
func TestVerdictBesideIsNoPipe(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mkfifo(filepath.Join(dir, "results.edn"), 0o600); err != nil {
		t.Fatal(err)
	}
	said := make(chan string, 1)
	go func() { verdict, _ := sourceVerdict(filepath.Join(dir, "history.edn")); said <- verdict }()
	select {
	case verdict := <-said:
		if verdict != "" {
			t.Errorf("a pipe says %q", verdict)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("a pipe in place of results.edn is waited for")
	}
}
