package matrix

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/internal/bounded"
	"github.com/dlmtest/dlmtest/internal/whole"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/pages"
	"github.com/dlmtest/dlmtest/runner"
)

// indexFile is what makes a folder one of a matrix.
const indexFile = "index.json"

// PageFile is the page of a matrix in its folder.
const PageFile = "index.html"

func newFolder(out, kind string, now time.Time) (string, error) {
	dir, err := runner.NewFolder(out, kind, now)
	if err != nil {
		return "", fmt.Errorf("the folder of all runs: %w; choose another with --out DIR", err)
	}
	return dir, nil
}

// save writes every form of an index, each whole or not at all, so that a matrix
// that is killed leaves a true one.
func save(in *os.Root, x pages.Index) error {
	return errors.Join(
		runner.Write(in, indexFile, func(w io.Writer) error {
			e := json.NewEncoder(w)
			e.SetIndent("", "  ")
			return e.Encode(x)
		}),
		runner.Write(in, PageFile, func(w io.Writer) error { return pages.IndexHTML(w, x) }),
		runner.Write(in, "index.md", func(w io.Writer) error { return pages.IndexMarkdown(w, x) }),
		runner.Write(in, "junit.xml", func(w io.Writer) error { return pages.IndexJUnit(w, x) }),
	)
}

// Is says whether a folder is a matrix's.
func Is(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, indexFile))
	return err == nil
}

// mostOfAnIndex is an index of some hundred thousand runs.
const mostOfAnIndex = 256 << 20

// Open reads the index of a matrix. Nothing is judged or written.
func Open(dir string) (pages.Index, error) {
	in, err := os.OpenRoot(dir)
	if err != nil {
		return pages.Index{}, err
	}
	defer func() { _ = in.Close() }() // it was read
	return OpenIn(in)
}

// OpenIn is Open of a folder that is held.
func OpenIn(in *os.Root) (pages.Index, error) {
	var x pages.Index
	path := filepath.Join(in.Name(), indexFile)
	data, err := bounded.ReadIn(in, indexFile, mostOfAnIndex)
	if err != nil {
		return x, err
	}
	if format := bounded.Format(data, "dlmtest_index"); format > pages.IndexFormat {
		return x, fmt.Errorf("%s: written by a newer dlmtest (format %d, this one knows %d); update dlmtest", indexFile, format, pages.IndexFormat)
	}
	if err := bounded.JSON(path, data, &x); err != nil {
		return x, err
	}
	return x, errors.Join(small(path, x), apart(path, x))
}

// apart refuses an index in which a folder is that of two runs: one run would count as thousands that held.
func apart(name string, x pages.Index) error {
	dirs := map[string]bool{}
	for _, c := range x.Cells {
		for _, r := range c.Runs {
			dir := path.Clean(r.Dir)
			if r.Dir != "" && dirs[dir] {
				return fmt.Errorf("%s: %s: the folder %q is of two runs; leave one of them out", name, c.Name(), r.Dir)
			}
			dirs[dir] = true
		}
	}
	return nil
}

// mostOfATable is how many places the table of a matrix may have: it is drawn whole, whatever was run of it.
const mostOfATable = 100_000

// small refuses two short lists that span a table of millions of places.
func small(name string, x pages.Index) error {
	if n := len(x.Scenarios) * len(x.Backends); n > mostOfATable {
		return fmt.Errorf("%s: %w: %d scenarios × %d backends make a table of %d places, and one may have %d; run fewer of them in one matrix",
			name, bounded.ErrTooLarge, len(x.Scenarios), len(x.Backends), n, mostOfATable)
	}
	return nil
}

// Check judges all runs of a matrix again, with no cluster, and writes its index
// anew. What a matrix that was killed has not run is no verdict. ended is called after each.
func Check(ctx context.Context, dir string, oracle checker.Oracle, ended func(pages.Cell, pages.CellRun)) (pages.Index, error) {
	in, err := os.OpenRoot(dir)
	if err != nil {
		return pages.Index{}, err
	}
	defer func() { _ = in.Close() }() // all that was written is closed
	x, err := OpenIn(in)
	if err != nil {
		return x, err
	}
	if runner.StillGoing(in) {
		return x, fmt.Errorf("%s: the matrix is still going on; check it when it has ended", dir)
	}
	if !x.Ended {
		closeKilled(in, &x)
	}
	for i := range x.Cells {
		c := &x.Cells[i]
		for n, old := range c.Runs {
			if old.Dir == "" || ctx.Err() != nil {
				continue
			}
			c.Runs[n] = again(ctx, in, old, oracle)
			ended(*c, c.Runs[n])
		}
		if c.Verdict != reports.NoSense {
			c.Settle()
		}
	}
	if ctx.Err() != nil {
		return x, fmt.Errorf("interrupted; the index is as it was: %w", ctx.Err())
	}
	if err := compareAll(ctx, in, &x); err != nil {
		return x, err
	}
	return x, save(in, x)
}

// again judges one run again. An error that it had while it ran stays.
func again(ctx context.Context, in *os.Root, old pages.CellRun, oracle checker.Oracle) pages.CellRun {
	own, err := bounded.Below(in, old.Dir)
	if err != nil {
		return pages.CellRun{Seed: old.Seed, Verdict: reports.Failed, Error: err.Error()}
	}
	defer func() { _ = own.Close() }() // all that was written is closed
	out, err := runner.CheckIn(ctx, own, oracle)
	if err == nil && len(old.Properties) > 0 && old.Error != "" {
		err = errors.New(old.Error)
	}
	r := judged(in.Name(), out, err)
	r.Seed, r.Took, r.Repeated, r.Dir = old.Seed, old.Took, old.Repeated, old.Dir
	return r
}

// Whole makes the folder out beside where it goes, and moves it there once fill has filled it: it is
// made whole or not at all.
func Whole(out string, fill func(in *os.Root) error) (err error) {
	if err := Vacant(out); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	dir, done, err := whole.Folder(filepath.Dir(out), ".dlmtest-merged-")
	if err != nil {
		return fmt.Errorf("the folder of the whole: %w; choose another with -o", err)
	}
	defer func() { err = errors.Join(err, done()) }() // after its rename there is nothing to remove
	in, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	if err := errors.Join(fill(in), in.Close(), os.Chmod(dir, 0o755)); err != nil {
		return err
	}
	if err := os.Remove(out); err != nil && !errors.Is(err, os.ErrNotExist) { // an empty one
		return err
	}
	return os.Rename(dir, out)
}

// Vacant wants a folder that is not there, or empty.
func Vacant(out string) error {
	entries, err := os.ReadDir(out)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("%w: -o %s: %w; choose a new folder", runner.ErrUsage, out, err)
	case len(entries) > 0:
		return fmt.Errorf("%w: -o %s is not empty; choose a new folder", runner.ErrUsage, out)
	}
	return nil
}
