package cli

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestReportFollowsNoLink: where a report goes unasked, nothing but a file of the folder is
// written; what -o names is the user's own business.
func TestReportFollowsNoLink(t *testing.T) {
	for _, format := range []string{"html", "svg", "png", "index"} {
		t.Run(format, func(t *testing.T) {
			dir := t.TempDir()
			mine := filepath.Join(t.TempDir(), "mine")
			if err := os.WriteFile(mine, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			args, name := []string{"report", dir, "--format", format}, "violation."+format
			switch format {
			case "html":
				name = "report.html"
			case "index":
				args, name = []string{"report", dir}, "index.html"
				if err := os.WriteFile(filepath.Join(dir, "index.json"), []byte(`{"dlmtest_index":1}`), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if format != "index" {
				dir = savedRun(t, "history.jsonl", strings.Join(recorded, "\n")+"\n")
				judgedDir(t, dir, exitInconclusive, "")
				args[1] = dir
			}
			at := filepath.Join(dir, name)
			for what, put := range map[string]func() error{
				"link":     func() error { return os.Symlink(mine, at) },
				"dangling": func() error { return os.Symlink(mine+"-new", at) },
				"pipe":     func() error { return syscall.Mkfifo(at, 0o600) },
			} {
				_ = os.Remove(at)
				if err := put(); err != nil {
					t.Fatal(err)
				}
				if what == "pipe" { // with a reader, so that nothing waits for one
					r, err := os.OpenFile(at, os.O_RDWR, 0)
					if err != nil {
						t.Fatal(err)
					}
					defer r.Close()
				}
				_, err := command(args...)
				if exitWith(err) != exitUsage || !strings.Contains(err.Error(), "-o FILE writes elsewhere") {
					t.Errorf("%s: %v", what, err)
				}
			}
			if text, err := os.ReadFile(mine); err != nil || len(text) > 0 {
				t.Errorf("%d bytes, %v: written through a link", len(text), err)
			}
			if _, err := os.Stat(mine + "-new"); err == nil {
				t.Error("made through a link")
			}
			_ = os.Remove(at)
			if err := os.Symlink(mine, at); err != nil {
				t.Fatal(err)
			}
			if _, err := command(append(args, "-o", at)...); err != nil {
				t.Errorf("-o: %v", err)
			}
			_ = os.Remove(at)
			if _, err := command(args...); err != nil {
				t.Errorf("nothing in the way: %v", err)
			}
		})
	}
}
