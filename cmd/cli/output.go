package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/dlmtest/dlmtest/internal/visible"
	"github.com/dlmtest/dlmtest/internal/whole"
	"github.com/dlmtest/dlmtest/reports/text"
	"github.com/dlmtest/dlmtest/runner"
)

// output is where a report goes.
type output struct {
	path  string   // "-": standard output
	force bool     // replace what is no report, too
	bytes bool     // it is no text
	ours  bool     // the path is a usual one, which nobody named
	in    *os.Root // the folder of that, held since it was read; nil: the path says it
}

// recordsOfRuns are never replaced: what is in them cannot be made again.
var recordsOfRuns = []string{"history.jsonl", "history.jsonl.part", "run.json", "results.json", "junit.xml", "index.json"}

// Files that dlmtest report writes begin so, or hold one of these near their begin.
var (
	begins = []string{text.MarkdownSign, `{"dlmtest_report":`, `{"dlmtest_comparison":`, "{\n  \"dlmtest_index\":"}
	signs  = []string{`<meta name="generator" content="dlmtest">`, "<metadata>dlmtest</metadata>", "Software\x00dlmtest"}
)

// signWithin is how many bytes of a file are looked at for a sign.
const signWithin = 4096

// check refuses a path at which something else would be lost, before anything is rendered.
func (o output) check() error {
	if o.path == "-" {
		return nil
	}
	look := os.Stat
	if o.ours {
		look = os.Lstat // who sent the folder may have put a link there
	}
	info, err := look(o.path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		if _, err := os.Stat(filepath.Dir(o.path)); err != nil {
			return usageError{fmt.Errorf("-o %s: %w; make the folder first", o.path, err)}
		}
		return nil
	case err != nil:
		return usageError{fmt.Errorf("-o %s: %w", o.path, err)}
	case info.IsDir():
		return usageError{fmt.Errorf("-o %s is a folder: name a file, such as %s", o.path, filepath.Join(o.path, "report.html"))}
	case o.ours && !info.Mode().IsRegular():
		return usageError{fmt.Errorf("%s is a link, a pipe or a device, which is not written to unasked: -o FILE writes elsewhere", o.path)}
	case !info.Mode().IsRegular() || info.Size() == 0:
		return nil
	case slices.Contains(recordsOfRuns, filepath.Base(o.path)):
		return usageError{fmt.Errorf("-o %s is the record of a run, which is never replaced: choose another name", o.path)}
	case o.force:
		return nil
	}
	ours, err := isReport(o.path)
	if err == nil && !ours {
		err = usageError{fmt.Errorf("-o %s is there and is no report of dlmtest; --force replaces it", o.path)}
	}
	return err
}

// isReport says whether dlmtest wrote a file.
func isReport(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	start, err := io.ReadAll(io.LimitReader(f, signWithin))
	return slices.ContainsFunc(begins, func(s string) bool { return bytes.HasPrefix(start, []byte(s)) }) ||
		slices.ContainsFunc(signs, func(s string) bool { return bytes.Contains(start, []byte(s)) }), err
}

// write renders to the path, whole or not at all. A device or a pipe that was named is
// written to, not replaced.
func (o output) write(out io.Writer, render func(io.Writer) error) error {
	raw := render
	if !o.bytes {
		render = runner.Text(render)
	}
	switch {
	case o.path == "-" && o.bytes && out == stdout:
		return raw(pixels)
	case o.path == "-":
		return raw(out)
	case o.in != nil:
		return whole.Write(o.in, filepath.Base(o.path), render)
	case o.ours:
		return whole.At(o.path, render)
	}
	path := o.path
	if file, err := filepath.EvalSymlinks(path); err == nil {
		path = file // the file changes, not the link
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().IsRegular() {
		return whole.At(path, render)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if o.bytes {
		return errors.Join(raw(f), f.Close())
	}
	to := visible.Console(f) // /dev/stdout, say
	return errors.Join(raw(to), to.Close())
}

// unhurried says what goes on once it has taken two seconds. The function that it
// returns ends that.
func unhurried(format string, args ...any) (done func()) {
	t := time.AfterFunc(2*time.Second, func() { fmt.Fprintf(stderr, format+" …\n", args...) })
	return func() { t.Stop() }
}
