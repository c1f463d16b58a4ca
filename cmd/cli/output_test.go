package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/dlmtest/dlmtest/runner/corpus"
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

// What a user names is written to, and never replaced, where it is no file: /dev/null stayed a device only for those who are
// not root.
func TestNamedOutputsAreNotReplaced(t *testing.T) {
	dir := t.TempDir()
	history, pipe, link, file := filepath.Join(dir, "h.edn"), filepath.Join(dir, "pipe"), filepath.Join(dir, "link"), filepath.Join(dir, "file")
	text := "{:process 0, :type :invoke, :f :acquire, :value nil, :time 1}\n{:process 0, :type :ok, :f :acquire, :value nil, :time 2}\n"
	if err := errors.Join(os.WriteFile(history, []byte(text), 0o600), os.WriteFile(file, nil, 0o600), os.Symlink(file, link), syscall.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	reader, err := os.OpenFile(pipe, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	record := func(path string) error {
		return corpusFlags{record: path}.keep(corpus.Track{Entry: corpus.Names()[0], Runtime: "local"})
	}
	for name, write := range map[string]func(path string) error{
		"convert": func(path string) error { _, err := command("convert", history, "--to", "edn", "-o", path); return err },
		"check": func(path string) error {
			_, err := command("check", history, "--model", "mutex", "--junit", path)
			if exitWith(err) == exitHolds {
				err = nil
			}
			return err
		},
		"corpus": record,
	} {
		if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := write(link); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s: the link is replaced: %v", name, err)
		}
		if text, err := os.ReadFile(file); err != nil || len(text) < 3 {
			t.Errorf("%s: the file has %q, %v", name, text, err)
		}
		if name == "corpus" { // it is read first
			continue
		}
		if err := write(pipe); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if info, err := os.Lstat(pipe); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
			t.Fatalf("%s: the pipe is replaced: %v", name, err)
		}
		if n, err := reader.Read(make([]byte, 1<<16)); n == 0 || err != nil {
			t.Errorf("%s: nothing came through the pipe: %v", name, err)
		}
	}
}

// An error that repeats a word of somebody's file can be read all the same.
func TestErrorsAreShort(t *testing.T) {
	if text := "what failed: ä"; cutShort(text) != text {
		t.Error(cutShort(text))
	}
	text := cutShort("what failed: " + strings.Repeat("ä", 1<<20) + "; what to do")
	if len(text) > mostOfAnError+100 || !utf8.ValidString(text) || !strings.HasPrefix(text, "what failed: ä") || !strings.HasSuffix(text, "ä; what to do") {
		t.Errorf("%d bytes: %.30s", len(text), text)
	}
}
