package matrix

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/pages"
	"github.com/dlmtest/dlmtest/runner"
)

// Merging says how the parts of a matrix become one.
type Merging struct {
	Dirs            []string // of the parts
	Out             string   // the folder of the whole; new, or empty
	Link            bool     // links to the parts, relative, in place of copies of their runs
	AllowDuplicates bool     // the same run of a cell may be in two parts; both are kept
	Copying         func(dir string, runs int)
}

// ErrParts says that parts do not make one matrix.
var ErrParts = fmt.Errorf("%w: these do not make one matrix", runner.ErrUsage)

func partsf(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrParts, fmt.Sprintf(format, args...))
}

// part is one of the folders that are merged.
type part struct {
	pages.Index
	dir  string // as it was given
	name string // of its folder or link in the whole
}

// cellRun names a run of a matrix.
type cellRun struct {
	scenario, backend string
	seed              uint64
}

func (c cellRun) String() string {
	return fmt.Sprintf("%s × %s, seed %d", c.scenario, c.backend, c.seed)
}

// Merge makes one matrix of its parts, whole or not at all. What is missing is in the
// index as not run, which is never green, and Stopped says what. An error that matches
// runner.ErrUsage says that the parts do not belong together.
func Merge(m Merging) (pages.Index, error) {
	var parts []part
	for _, dir := range m.Dirs {
		x, err := Open(dir)
		if err != nil {
			return x, fmt.Errorf("%w: %s: %w; want the folder of a matrix or of a shard, with its %s", runner.ErrUsage, dir, err, indexFile)
		}
		if err := plausible(x); err != nil {
			return x, fmt.Errorf("%s: %w", filepath.Join(dir, indexFile), err)
		}
		parts = append(parts, part{Index: x, dir: dir})
	}
	if len(parts) == 0 {
		return pages.Index{}, partsf("there are none")
	}
	for _, p := range parts[1:] {
		if err := belong(parts[0], p); err != nil {
			return p.Index, err
		}
	}
	if !m.AllowDuplicates {
		if err := distinct(parts); err != nil {
			return parts[0].Index, err
		}
	}
	name(parts)
	return m.build(parts)
}

// belong says how two parts differ in what must be one.
func belong(a, b part) error {
	differ := func(what string, x, y any) error {
		return partsf("%s: %s has %v, %s has %v", what, a.dir, x, b.dir, y)
	}
	switch {
	case a.Version != b.Version:
		return differ("the version of dlmtest", a.Version, b.Version)
	case !slices.Equal(a.Command, b.Command):
		return differ("the command", strings.Join(a.Command, " "), strings.Join(b.Command, " "))
	case a.Count != b.Count || (a.Shard == nil && a.FirstSeed() != b.FirstSeed()):
		return differ("runs a cell and the first seed", []uint64{uint64(a.Count), a.FirstSeed()}, []uint64{uint64(b.Count), b.FirstSeed()})
	case (a.Shard == nil) != (b.Shard == nil):
		return partsf("of %s and %s one is a shard and one a whole matrix", a.dir, b.dir)
	case a.Shard != nil && a.Shard.Count != b.Shard.Count:
		return differ("the number of shards", a.Shard.Count, b.Shard.Count)
	case a.Shard != nil && !slices.Equal(a.Shard.Plan, b.Shard.Plan):
		return partsf("%s and %s have split the matrix differently: give every shard the same flags, --seed and --timings too", a.dir, b.dir)
	case !slices.EqualFunc(a.Cells, b.Cells, func(x, y pages.Cell) bool {
		return x.Name() == y.Name() && x.Reason == y.Reason && x.Alone == y.Alone && (x.Verdict == reports.NoSense) == (y.Verdict == reports.NoSense)
	}):
		return partsf("%s and %s have different cells, or call different cells n/a", a.dir, b.dir)
	}
	return nil
}

// distinct refuses a run that is in two parts, and names both.
func distinct(parts []part) error {
	first := map[cellRun]int{}
	var twice []string
	for i, p := range parts {
		for _, c := range p.Cells {
			for _, r := range c.Runs {
				run := cellRun{c.Scenario, c.Backend, r.Seed}
				was, known := first[run]
				if known && was != i {
					twice = append(twice, fmt.Sprintf("%v is in %s and in %s", run, parts[was].dir, p.dir))
				} else {
					first[run] = i
				}
			}
		}
	}
	if len(twice) == 0 {
		return nil
	}
	more, text := len(twice)-3, strings.Join(twice[:min(3, len(twice))], "; ")
	if more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return partsf("%s; leave one of the two out, or say --allow-duplicates to keep both", text)
}

// name names the folder of each part in the whole: by its shard, or by its place.
func name(parts []part) {
	taken := map[string]bool{}
	for i := range parts {
		parts[i].name = fmt.Sprintf("part-%d", i+1)
		if s := parts[i].Shard; s != nil && !taken[fmt.Sprintf("shard-%d", s.Index)] {
			parts[i].name = fmt.Sprintf("shard-%d", s.Index)
		}
		taken[parts[i].name] = true
	}
}

// build makes the folder of the whole.
func (m Merging) build(parts []part) (x pages.Index, err error) {
	out, err := filepath.Abs(m.Out)
	if err != nil {
		return x, err
	}
	err = Whole(out, func(in *os.Root) error {
		for i := range parts {
			if err := m.bring(&parts[i], in); err != nil {
				return fmt.Errorf("%s: %w", parts[i].dir, err)
			}
		}
		x = union(parts)
		x.ID = filepath.Base(out)
		if err := compareAll(context.Background(), in, &x, parts...); err != nil {
			return err
		}
		return save(in, x)
	})
	return x, err
}

// union is the index of the whole.
func union(parts []part) pages.Index {
	x := parts[0].Index
	x.Shard, x.Ended, x.Stopped, x.Merged, x.Compared = nil, true, "", nil, nil
	x.Cells = slices.Clone(x.Cells)
	ended := x.Started
	for _, p := range parts {
		x.Merged = append(x.Merged, p.name)
		if p.Started.Before(x.Started) {
			x.Started = p.Started
		}
		if end := p.Started.Add(p.Took); end.After(ended) {
			ended = end
		}
	}
	x.Took = ended.Sub(x.Started).Round(time.Millisecond)
	for i := range x.Cells {
		c := &x.Cells[i]
		if c.Verdict == reports.NoSense {
			c.Answers = checker.Skipped() // an older dlmtest gave none
			continue
		}
		c.Runs, c.Verdict = nil, reports.Waiting
		for _, p := range parts {
			c.Runs = append(c.Runs, p.Cells[i].Runs...)
		}
		c.Runs = append(c.Runs, missing(parts[0], *c)...)
		slices.SortStableFunc(c.Runs, func(a, b pages.CellRun) int { return cmp.Compare(a.Seed, b.Seed) })
		for n := range c.Runs {
			if c.Runs[n].Verdict == reports.Waiting {
				c.Runs[n].Verdict = reports.NotRun
			}
		}
		c.Settle()
	}
	x.Stopped = gaps(parts, x)
	return x
}

// missing are the runs of a cell that were planned and are in no part.
func missing(first part, c pages.Cell) (all []pages.CellRun) {
	if first.Shard == nil {
		return nil
	}
	for _, p := range first.Shard.Plan {
		here := func(r pages.CellRun) bool { return r.Seed == p.Seed }
		if p.Scenario == c.Scenario && p.Backend == c.Backend && !slices.ContainsFunc(c.Runs, here) {
			all = append(all, pages.CellRun{Seed: p.Seed, Verdict: reports.NotRun})
		}
	}
	return all
}

// gaps says what is missing in the whole; "": nothing is.
func gaps(parts []part, x pages.Index) string {
	var all []string
	if s := parts[0].Shard; s != nil {
		for i := 1; i <= s.Count; i++ {
			if !slices.ContainsFunc(parts, func(p part) bool { return p.Shard.Index == i }) {
				own := pages.Shard{Index: i, Plan: s.Plan}
				all = append(all, fmt.Sprintf("shard %d of %d is missing, with %d of %d runs", i, s.Count, own.Own(), len(s.Plan)))
			}
		}
	}
	for _, p := range parts {
		switch {
		case p.Stopped != "":
			all = append(all, p.name+" was interrupted")
		case !p.Ended:
			all = append(all, p.name+" had not ended: it goes on, or was killed")
		}
	}
	n := 0
	for _, c := range x.Cells {
		for _, r := range c.Runs {
			if r.Verdict == reports.NotRun {
				n++
			}
		}
	}
	switch {
	case len(all) > 0:
		return fmt.Sprintf("Not all of the matrix is here: %s. Not run: %d.", strings.Join(all, "; "), n)
	case n > 0:
		return fmt.Sprintf("Not all of the matrix is here. Not run: %d.", n)
	}
	return ""
}
