package gate

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/docs/schema"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/bounded"
	"github.com/dlmtest/dlmtest/locks/libraries"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/runner/matrix"
	"github.com/dlmtest/dlmtest/scenarios"
)

// Asked is what the command of a run asked for.
type Asked struct {
	Scenario string            // its name, or the path of its file
	Flags    map[string]string // the other flags, without their dashes
}

// From makes a gate file of what a run, a matrix or a gate has shown: what held must hold,
// and what was violated becomes a known weakness where the scenario expects that of the
// lock; all else that was violated is left to a person. read understands the command of a
// run. The notes say what a person should look at.
func From(dir string, read func(command []string) (Asked, error)) (c *Config, notes []string, err error) {
	// runs/latest-matrix is another folder after the next matrix, and the links must still lead here.
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, nil, err
	}
	c = &Config{Name: "the gate of " + filepath.Base(filepath.Clean(dir))}
	in, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = in.Close() }() // it was read
	if !matrix.Is(dir) {
		cell, notes, err := cellFrom(in, []string{"."}, 1, read)
		if err != nil {
			return nil, nil, err
		}
		c.Cells = []Cell{cell}
		return c, notes, nil
	}
	x, err := matrix.OpenIn(in)
	if err != nil {
		return nil, nil, err
	}
	for _, is := range x.Cells {
		var dirs []string
		count := 0
		for _, r := range is.Runs {
			if r.Dir == "" || len(r.Properties) == 0 || r.Repeated && r.Verdict != reports.Violates {
				continue
			}
			own, err := bounded.Below(in, r.Dir)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				notes = append(notes, fmt.Sprintf("%s: its run with the seed %d is left out: %v", is.Name(), r.Seed, err))
				continue
			}
			if err != nil {
				return nil, nil, fmt.Errorf("%w; want the runs of a matrix that has ended", err)
			}
			_ = own.Close() // thousands may not be open at a time
			dirs = append(dirs, r.Dir)
			if !r.Repeated { // one that was counts for what it violated alone, as in a gate
				count++
			}
		}
		if len(dirs) == 0 {
			notes = append(notes, fmt.Sprintf("%s is left out: no run of it was judged (%s)", is.Name(), cmp.Or(is.Reason, string(is.Verdict))))
			continue
		}
		cell, more, err := cellFrom(in, dirs, count, read)
		if err != nil {
			return nil, nil, err
		}
		cell.Name = is.Named
		c.Cells, notes = append(c.Cells, cell), append(notes, more...)
	}
	if len(c.Cells) == 0 {
		return nil, nil, fmt.Errorf("%s: no run in it was judged, so there is nothing to write: %s", dir, cmp.Or(strings.Join(notes, "; "), "it has no cell"))
	}
	return c, notes, nil
}

// cellFrom makes a cell of the runs of one, count of which were no repeats.
func cellFrom(in *os.Root, dirs []string, count int, read func([]string) (Asked, error)) (cell Cell, notes []string, err error) {
	for i, name := range dirs {
		open := bounded.Below
		if name == "." { // the user has named it, whatever lies in it
			open = (*os.Root).OpenRoot
		}
		own, err := open(in, name)
		if err != nil {
			return cell, nil, err
		}
		dir := filepath.Join(in.Name(), name)
		run, result, err := readRun(own)
		if err = errors.Join(err, own.Close()); err != nil {
			return cell, nil, err
		}
		if i == 0 {
			asked, err := read(run.Command)
			if err != nil {
				return cell, nil, fmt.Errorf("%s: its command: %w", dir, err)
			}
			cell = Cell{Scenario: asked.Scenario, Backend: run.Backend, Library: libraryOf(run), Flags: asked.Flags, Expect: map[string]Expectation{}}
			if count > 1 {
				cell.Count = count
			}
		}
		notes = append(notes, cell.learn(dir, expectedOf(run), result)...)
	}
	if cell.Others == NotJudged { // the flaw of a control was found, and what follows from it is no news
		maps.DeleteFunc(cell.Expect, func(_ string, e Expectation) bool { return e.Is == ToDecide })
	}
	for _, name := range slices.Sorted(maps.Keys(cell.Expect)) {
		if cell.Expect[name].Is == ToDecide {
			notes = append(notes, fmt.Sprintf("%s: %s was violated, and the scenario does not expect that of this lock: "+
				"it is undecided, and no gate runs until somebody says whether it is a bug", cell.Label(), name))
		}
	}
	return cell, notes, nil
}

// expectations are what a scenario expects of one lock and, where that is a library, of the reference lock
// of its backend; and its title.
type expectations struct {
	title, backend string
	of, reference  map[string]checker.Expectation
}

// expectedOf is what the scenario of a run expects of its lock; nothing where the run does not say.
func expectedOf(run reports.Run) (e expectations) {
	if s, err := scenarios.Parse("run.json", []byte(run.Resolved)); err == nil {
		of := func(lock string) map[string]checker.Expectation {
			return s.ExpectedOf(lock, run.Options["fence-on"], run.Idles())
		}
		e = expectations{s.Title, run.Backend, of(history.LockName(run.Backend, run.Library)), of(run.Backend)}
	}
	return e
}

// libraryOf is the library of a run as a file names it; "": the reference.
func libraryOf(run reports.Run) string {
	if run.Repeat != nil && run.Repeat.Library != "" {
		return run.Repeat.Library
	}
	if run.Library == Library {
		return ""
	}
	return run.Library
}

// learn adds what a run has shown. What was violated once stays so, whatever other runs show.
func (c *Cell) learn(dir string, expected expectations, result checker.Result) (notes []string) {
	lock, _ := libraries.Find(c.Backend, c.Library)
	flaw := lock.Broken
	for _, p := range result.Properties {
		old, ok := c.Expect[p.Name]
		switch {
		case p.Verdict == checker.NA, ok && (old.Is == Weakness || old.Is == ToDecide || old.Is == MustDetect):
		case p.Verdict == checker.Violated && flaw != nil && flaw.Property == p.Name:
			c.Expect[p.Name], c.Others = Expectation{Is: MustDetect}, NotJudged
		case p.Verdict == checker.Violated, p.Verdict != checker.NA && expected.of[p.Name].Sometimes:
			e := expected.violated(p)
			e.Link = link(dir)
			c.Expect[p.Name] = e
		case p.Verdict == checker.Holds:
			c.Expect[p.Name] = Expectation{Is: Holds}
		case p.WouldHold || p.Disturbed:
			c.Expect[p.Name] = Expectation{Is: Holds}
			notes = append(notes, fmt.Sprintf("%s: %s was not put to the test in %s (%s); holds is written, which a "+
				"run must show", c.Label(), p.Name, dir, p.Reason))
		case !ok:
			c.Expect[p.Name] = Expectation{Is: NotJudged, Reason: "this scenario does not put it to the test: " + p.Reason}
		}
	}
	return notes
}

// violated is what is written of a property that was violated. No run says whether that is a
// bug; only the scenario, which was written before it, can say that it is in the lock's nature.
func (x expectations) violated(p checker.Property) Expectation {
	e, known := x.of[p.Name]
	switch {
	case known && e.Verdict == checker.Violated:
		return Expectation{Is: Weakness, Seen: seen(p),
			Reason: strings.TrimSuffix(fmt.Sprintf("the scenario expects it of this lock: %s", cmp.Or(e.Note, x.title)), ".")}
	case known:
		return Expectation{Is: ToDecide, Seen: seen(p), Reason: fmt.Sprintf("the scenario expects %s of this lock", e.Verdict)}
	}
	why := "the scenario says nothing of it for this lock"
	if e, known := x.reference[p.Name]; known && e.Verdict == checker.Violated {
		why = fmt.Sprintf("the scenario says nothing of this library; of the reference lock of %s it expects this: %s", x.backend, cmp.Or(e.Note, x.title))
	}
	return Expectation{Is: ToDecide, Seen: seen(p), Reason: strings.TrimSuffix(why, ".")}
}

// link is the report of a run as something that can be followed, whatever its path is made of.
func link(dir string) string {
	return (&url.URL{Path: filepath.ToSlash(filepath.Join(dir, "report.html"))}).String()
}

// seen is the first violation in a line.
func seen(p checker.Property) string {
	text := p.Reason
	if len(p.Violations) > 0 {
		text = p.Violations[0].Message
	}
	return strings.Join(strings.Fields(text), " ")
}

// mostOfAFile is many times what a file of the largest run has.
const mostOfAFile = 256 << 20

func readRun(in *os.Root) (run reports.Run, result checker.Result, err error) {
	dir := in.Name()
	files := map[string][]byte{"run.json": nil, "results.json": nil}
	for name := range files {
		files[name], err = bounded.ReadIn(in, name, mostOfAFile)
		if errors.Is(err, fs.ErrNotExist) {
			return run, result, fmt.Errorf("%w; want the folder of a run or a matrix that has ended, such as "+
				"runs/latest (dlmtest check %s judges one that was killed)", err, dir)
		}
		if err != nil {
			return run, result, err
		}
	}
	if run, err = runner.DecodeRun(filepath.Join(dir, "run.json"), files["run.json"]); err != nil {
		return run, result, err
	}
	if result, err = runner.DecodeResults(filepath.Join(dir, "results.json"), files["results.json"]); err != nil {
		return run, result, err
	}
	if len(result.Properties) == 0 || len(run.Command) == 0 || run.Backend == "" {
		return run, result, fmt.Errorf("%s: it was not judged, or does not say how it was run", dir)
	}
	return run, result, nil
}

// YAML is the config as a file that Parse reads, with a head for its reader.
func (c *Config) YAML() ([]byte, error) {
	data, err := yaml.Dump(c)
	if err != nil {
		return nil, fmt.Errorf("the gate's file: %w", err)
	}
	return append([]byte(schema.Line("gate")+"# dlmtest gate --config FILE; see docs/gate.md. What is not named must hold.\n"), data...), nil
}
