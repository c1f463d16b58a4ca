package matrix

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/internal/bounded"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/pages"
	"github.com/dlmtest/dlmtest/runner"
)

// plausible refuses an index that no dlmtest writes: what it says is merged unseen.
func plausible(x pages.Index) error {
	cells, dirs := map[string]bool{}, map[string]bool{}
	for _, c := range x.Cells {
		if cells[c.Name()] {
			return fmt.Errorf("there are two cells %s", c.Name())
		}
		cells[c.Name()] = true
		if (c.Verdict == reports.NoSense || c.Verdict == reports.Elsewhere) && len(c.Runs) > 0 || !c.Verdict.Known() {
			return fmt.Errorf("%s is %q and has %d runs", c.Name(), c.Verdict, len(c.Runs))
		}
		if c.Verdict == reports.Elsewhere && x.Shard == nil || c.Verdict != reports.Elsewhere && c.Verdict != reports.NoSense && len(c.Runs) == 0 {
			return fmt.Errorf("%s has no runs", c.Name())
		}
		for n, r := range c.Runs {
			again := n > 0 && c.Runs[n-1].Seed == r.Seed && c.Runs[n-1].Repeated
			seen := slices.ContainsFunc(c.Runs[:n], func(o pages.CellRun) bool { return o.Seed == r.Seed })
			switch {
			case !r.Verdict.Known() || r.Verdict == reports.NoSense || r.Verdict == reports.Elsewhere:
				return fmt.Errorf("%s: a run is %q, which is no outcome of a run", c.Name(), r.Verdict)
			case seen && !again:
				return fmt.Errorf("%s: two runs with the seed %d", c.Name(), r.Seed)
			case r.Dir == "":
			case !filepath.IsLocal(filepath.FromSlash(r.Dir)) || path.Clean(r.Dir) == ".":
				return fmt.Errorf("%s: the run's folder %q is not below this one", c.Name(), r.Dir)
			case dirs[path.Clean(r.Dir)]:
				return fmt.Errorf("%s: the folder %q is of two runs", c.Name(), r.Dir)
			}
			dirs[path.Clean(r.Dir)] = true
		}
	}
	return ofPlan(x, cells)
}

// ofPlan wants the runs of a shard to be those that its plan has for it.
func ofPlan(x pages.Index, cells map[string]bool) error {
	if x.Shard == nil {
		return nil
	}
	if _, err := (Shard{x.Shard.Index, x.Shard.Count}).valid(fmt.Sprintf("%d/%d", x.Shard.Index, x.Shard.Count)); err != nil {
		return err
	}
	planned := map[cellRun]int{}
	for _, p := range x.Shard.Plan {
		run := cellRun{p.Scenario, p.Backend, p.Seed}
		if planned[run] != 0 || p.Shard < 1 || p.Shard > x.Shard.Count || !cells[pages.Cell{Scenario: p.Scenario, Backend: p.Backend}.Name()] {
			return fmt.Errorf("its plan is broken at %v", run)
		}
		planned[run] = p.Shard
	}
	for _, c := range x.Cells {
		for _, r := range c.Runs {
			if run := (cellRun{c.Scenario, c.Backend, r.Seed}); planned[run] != x.Shard.Index {
				return fmt.Errorf("%v is not planned for shard %d", run, x.Shard.Index)
			}
		}
		of := func(p pages.PlannedRun) bool { return p.Scenario == c.Scenario && p.Backend == c.Backend }
		if any := slices.ContainsFunc(x.Shard.Plan, of); any == (c.Verdict == reports.NoSense) {
			return fmt.Errorf("%s is %s, and the plan says otherwise", c.Name(), c.Verdict)
		}
	}
	return nil
}

// bring brings the runs of a part into the folder of the whole, and leads its index
// there. A run whose folder is not there, or says otherwise, is not believed.
func (m Merging) bring(p *part, into *os.Root) error {
	from, err := os.OpenRoot(p.dir) // no link leads out of it
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }() // it was read
	to, err := m.Room(p.name, p.dir, into)
	if err != nil {
		return err
	}
	defer func() { _ = to.Close() }() // all that was written is closed
	if m.Copying != nil && !m.Link {
		m.Copying(p.dir, runsWithFolders(p.Index))
	}
	p.Cells = slices.Clone(p.Cells)
	for i := range p.Cells {
		p.Cells[i].Runs = slices.Clone(p.Cells[i].Runs)
		for n := range p.Cells[i].Runs {
			r := &p.Cells[i].Runs[n]
			if r.Dir == "" {
				if len(r.Properties) > 0 {
					Doubt(r, "the index names no folder of this run, so its verdict cannot be looked at")
				}
				continue
			}
			if err := m.bringRun(from, r, to); err != nil {
				return err
			}
			if r.Dir != "" {
				r.Dir = path.Join(p.name, path.Clean(r.Dir))
			}
		}
	}
	return nil
}

// Room makes the folder of a part in that of the whole, or a link to the part; it has what is brought of the part.
func (m Merging) Room(name, part string, into *os.Root) (*os.Root, error) {
	if !m.Link {
		if err := into.Mkdir(name, 0o755); err != nil {
			return nil, err
		}
		return into.OpenRoot(name)
	}
	target, err := Relative(into.Name(), part)
	if err != nil {
		return nil, err
	}
	if err := into.Symlink(target, name); err != nil {
		return nil, err
	}
	return into.OpenRoot(".") // nothing is brought
}

func runsWithFolders(x pages.Index) (n int) {
	for _, c := range x.Cells {
		for _, r := range c.Runs {
			if r.Dir != "" {
				n++
			}
		}
	}
	return n
}

// Relative is the way from a folder, through no link, to another.
func Relative(from, to string) (string, error) {
	to, err := filepath.Abs(to)
	if err == nil {
		to, err = filepath.EvalSymlinks(to)
	}
	if err == nil {
		from, err = filepath.EvalSymlinks(from)
	}
	if err != nil {
		return "", err
	}
	return filepath.Rel(from, to)
}

// bringRun copies the folder of a run, if it is there, and compares what it says.
func (m Merging) bringRun(from *os.Root, r *pages.CellRun, to *os.Root) error {
	if info, err := from.Stat(r.Dir); err != nil || !info.IsDir() {
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		Doubt(r, fmt.Sprintf("the run's folder %s is missing, so its verdict cannot be looked at", r.Dir))
		r.Dir = ""
		return nil
	}
	compare(from, r)
	if m.Link {
		return nil
	}
	return CopyFolder(from, r.Dir, to)
}

// Doubt takes back what is green of a run: its verdict, and each property that holds.
func Doubt(r *pages.CellRun, why string) {
	r.Doubts = append(slices.Clone(r.Doubts), why)
	if r.Verdict == reports.Good {
		r.Verdict = reports.Unclear
	}
	if r.Answers != nil {
		doubted := r.Answers.Doubted()
		r.Answers = &doubted
	}
	r.Properties = slices.Clone(r.Properties)
	for i := range r.Properties {
		if p := &r.Properties[i]; p.Verdict == checker.Holds {
			p.Verdict = checker.Unknown
		}
	}
}

// resultsFile is the judgement in a run's folder.
const resultsFile = "results.json"

// compare holds what the index says of a run against what the run's folder says.
func compare(from *os.Root, r *pages.CellRun) {
	var result checker.Result
	data, err := bounded.ReadIn(from, path.Join(r.Dir, resultsFile), mostOfAnIndex)
	if err == nil {
		result, err = runner.DecodeResults(path.Join(r.Dir, resultsFile), data)
	}
	if err != nil {
		Doubt(r, fmt.Sprintf("the run's judgement cannot be read: %v", err))
		return
	}
	Believe(r, result)
}

// Believe holds what an index says of a run against the run's own judgement, which may
// have been made anew. Where they differ nothing is green, and what either says is
// violated is.
func Believe(r *pages.CellRun, result checker.Result) {
	says := reports.OutcomeOf(result.Verdict)
	if says != reports.Violates && (r.Verdict == reports.Failed || r.Verdict == reports.NotRun) {
		return
	}
	differ := differs(r.Properties, result)
	if says == r.Verdict && differ == "" {
		return
	}
	Doubt(r, fmt.Sprintf("the index says %s and the run's %s %s%s; dlmtest check decides", r.Verdict, resultsFile, says, differ))
	if says == reports.Violates { // it always wins
		r.Verdict = says
	}
	if r.Answers != nil {
		both := r.Answers.With(result.Answers).Doubted()
		r.Answers = &both
	}
	for _, p := range result.Properties {
		if p.Verdict != checker.Violated {
			continue
		}
		i := slices.IndexFunc(r.Properties, func(is pages.Decided) bool { return is.Name == p.Name })
		if i < 0 { // of a property that the index does not know
			i, r.Properties = len(r.Properties), append(r.Properties, pages.Decided{Name: p.Name})
		}
		r.Properties[i].Verdict = p.Verdict
	}
}

// differs names the first property of an index of which a judgement says something else.
func differs(all []pages.Decided, result checker.Result) string {
	for _, is := range all {
		switch p := result.Property(is.Name); {
		case p == nil:
			return fmt.Sprintf(" (%s: %s and nothing)", is.Name, is.Verdict)
		case p.Verdict != is.Verdict:
			return fmt.Sprintf(" (%s: %s and %s)", is.Name, is.Verdict, p.Verdict)
		}
	}
	return ""
}

// CopyFolder copies a folder with plain files and folders in it; a link could lead anywhere.
func CopyFolder(from *os.Root, dir string, into *os.Root) error {
	return fs.WalkDir(from.FS(), path.Clean(dir), func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return into.MkdirAll(name, 0o755)
		case !entry.Type().IsRegular():
			return fmt.Errorf("%s is neither a file nor a folder, which no run has; remove it", name)
		}
		return copyFile(from, into, name)
	})
}

func copyFile(from, into *os.Root, name string) error {
	in, err := bounded.OpenIn(from, name)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := into.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = bounded.Copy(out, in)
	return errors.Join(err, out.Close())
}
