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
func save(dir string, x pages.Index) error {
	return errors.Join(
		runner.Write(dir, indexFile, func(w io.Writer) error {
			e := json.NewEncoder(w)
			e.SetIndent("", "  ")
			return e.Encode(x)
		}),
		runner.Write(dir, PageFile, func(w io.Writer) error { return pages.IndexHTML(w, x) }),
		runner.Write(dir, "index.md", func(w io.Writer) error { return pages.IndexMarkdown(w, x) }),
		runner.Write(dir, "junit.xml", func(w io.Writer) error { return pages.IndexJUnit(w, x) }),
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
	var x pages.Index
	data, err := bounded.ReadFile(filepath.Join(dir, indexFile), mostOfAnIndex)
	if err != nil {
		return x, err
	}
	if format := bounded.Format(data, "dlmtest_index"); format > pages.IndexFormat {
		return x, fmt.Errorf("%s: written by a newer dlmtest (format %d, this one knows %d); update dlmtest", indexFile, format, pages.IndexFormat)
	}
	if err := bounded.JSON(filepath.Join(dir, indexFile), data, &x); err != nil {
		return x, err
	}
	return x, errors.Join(small(filepath.Join(dir, indexFile), x), apart(filepath.Join(dir, indexFile), x))
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
	x, err := Open(dir)
	if err != nil {
		return x, err
	}
	if runner.StillGoing(dir) {
		return x, fmt.Errorf("%s: the matrix is still going on; check it when it has ended", dir)
	}
	if !x.Ended {
		closeKilled(dir, &x)
	}
	for i := range x.Cells {
		c := &x.Cells[i]
		for n, old := range c.Runs {
			if old.Dir == "" || ctx.Err() != nil {
				continue
			}
			c.Runs[n] = again(ctx, dir, old, oracle)
			ended(*c, c.Runs[n])
		}
		if c.Verdict != reports.NoSense {
			c.Settle()
		}
	}
	if ctx.Err() != nil {
		return x, fmt.Errorf("interrupted; the index is as it was: %w", ctx.Err())
	}
	if err := compareAll(ctx, dir, &x); err != nil {
		return x, err
	}
	return x, save(dir, x)
}

// again judges one run again. An error that it had while it ran stays.
func again(ctx context.Context, dir string, old pages.CellRun, oracle checker.Oracle) pages.CellRun {
	own, err := bounded.Below(dir, old.Dir)
	if err != nil {
		return pages.CellRun{Seed: old.Seed, Verdict: reports.Failed, Error: err.Error()}
	}
	out, err := runner.Check(ctx, own, oracle)
	if err == nil && len(old.Properties) > 0 && old.Error != "" {
		err = errors.New(old.Error)
	}
	r := judged(dir, out, err)
	r.Seed, r.Took, r.Repeated, r.Dir = old.Seed, old.Took, old.Repeated, old.Dir
	return r
}
