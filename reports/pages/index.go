package pages

import (
	"encoding/json"
	"io"
	"slices"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/reports"
)

// IndexFormat is the version of index.json that this package writes.
const IndexFormat = 1

// Index is a matrix of runs, scenario × backend; index.json holds it. Durations
// are nanoseconds.
type Index struct {
	Format    int               `json:"dlmtest_index"` // version of this file
	ID        string            `json:"id"`
	Command   []string          `json:"command"` // that repeats the matrix
	Version   string            `json:"version"` // of dlmtest
	Started   time.Time         `json:"started"`
	Took      time.Duration     `json:"took"`                  // so far
	Ended     bool              `json:"ended"`                 // false: the matrix goes on, or was killed
	Stopped   string            `json:"interrupted,omitempty"` // why it ended early, or ""
	Count     int               `json:"count"`                 // runs asked for of each cell
	Parallel  int               `json:"parallel"`              // runs at a time
	Scenarios []string          `json:"scenarios"`             // the rows, in order
	Titles    map[string]string `json:"titles,omitempty"`      // by scenario
	Compared  map[string]string `json:"comparisons,omitempty"` // by scenario: the page that compares its backends
	Backends  []string          `json:"backends"`              // the columns, in order
	Cells     []Cell            `json:"cells"`                 // row by row
	Shard     *Shard            `json:"shard,omitempty"`       // which part of the matrix this is; nil: all of it
	Merged    []string          `json:"merged,omitempty"`      // the parts that it was merged from
}

// Shard is a part of a matrix that was split over several machines.
type Shard struct {
	Index    int           `json:"index"`    // from 1
	Count    int           `json:"count"`    // of the shards
	Expected time.Duration `json:"expected"` // how long this one should take
	Plan     []PlannedRun  `json:"plan"`     // all runs of the matrix, and in which shard each is
}

// PlannedRun is one run of a matrix that was split.
type PlannedRun struct {
	Scenario string `json:"scenario"`
	Backend  string `json:"backend"`
	Seed     uint64 `json:"seed"`
	Shard    int    `json:"shard"`
}

// Cell is one scenario against one backend.
type Cell struct {
	Scenario string          `json:"scenario"`
	Backend  string          `json:"backend"`
	Named    string          `json:"named,omitempty"`  // what a gate calls it, of which Backend tells as well; see Column
	Verdict  reports.Outcome `json:"verdict"`          // of its runs, the worst; see Settle
	Answers  checker.Answers `json:"answers"`          // of its runs together; see Settle
	Reason   string          `json:"reason,omitempty"` // why it is n/a
	Alone    bool            `json:"alone,omitempty"`  // its timing is so tight that nothing runs beside it
	Runs     []CellRun       `json:"runs,omitempty"`   // by seed, a repeat after the run that it repeats
}

// Column is what the index calls the backend of a cell that a gate has given a name.
func Column(lock, named string) string {
	if named == "" {
		return lock
	}
	return lock + " (" + named + ")"
}

// CellRun is one run of a cell.
type CellRun struct {
	Seed           uint64               `json:"seed"`
	Verdict        reports.Outcome      `json:"verdict"`
	Dir            string               `json:"dir,omitempty"` // its folder, relative to the index
	Took           time.Duration        `json:"took,omitempty"`
	Answers        *checker.Answers     `json:"answers,omitempty"`         // nil: nothing was judged
	Properties     []Decided            `json:"properties,omitempty"`      // in the order of a report
	Differs        []checker.Difference `json:"differs,omitempty"`         // from what the scenario expects of this backend
	FirstViolation time.Duration        `json:"first_violation,omitempty"` // from the first grant; 0: there is none
	Doubts         []string             `json:"doubts,omitempty"`
	JudgeFailed    bool                 `json:"judge_failed,omitempty"` // a bug of dlmtest: what it says to hold need not
	Error          string               `json:"error,omitempty"`        // of dlmtest itself
	Repeated       bool                 `json:"repeated,omitempty"`     // the machine disturbed it: the next run repeats it and counts
	Remedy         string               `json:"remedy,omitempty"`       // of a violation: what would have prevented it
	Command        []string             `json:"command,omitempty"`      // of a violation: that repeats the run
}

// Decided is the verdict of one property.
type Decided struct {
	Name    string          `json:"name"`
	Verdict checker.Verdict `json:"verdict"`
	Says    string          `json:"says,omitempty"` // of a violation: the first one in a sentence
}

// Violation is what a run says of a property that it violated; "": nothing.
func (r CellRun) Violation(property string) string {
	for _, p := range r.Properties {
		if p.Name == property {
			return p.Says
		}
	}
	return ""
}

// Settle works the verdict and the answers of the cell out from its runs: the worst. A run that was
// repeated does not count, its repeat does; but what it has violated stays.
func (c *Cell) Settle() {
	c.Answers = AnswersOf(c.Runs)
	if c.Verdict == reports.Elsewhere && len(c.Runs) == 0 {
		return
	}
	var all []reports.Outcome
	for _, r := range c.Runs {
		if !r.Repeated || r.Verdict == reports.Violates {
			all = append(all, r.Verdict)
		}
	}
	c.Verdict = reports.Worst(all)
}

// AnswersOf are the answers of some runs together. Of a run that reached no judgement nothing is known.
func AnswersOf(runs []CellRun) checker.Answers {
	all := checker.Skipped() // what is not run has nothing to answer
	for _, r := range runs {
		switch {
		case r.Repeated && r.Verdict == reports.Violates && r.Answers != nil:
			all = all.With(r.Answers.Violations(r.Differs))
		case r.Repeated:
		case r.Answers == nil:
			all = all.With(checker.Answers{})
		default:
			all = all.With(*r.Answers)
		}
	}
	return all
}

// counted are the runs that were not repeated.
func (c Cell) counted() (runs []CellRun) {
	for _, r := range c.Runs {
		if !r.Repeated {
			runs = append(runs, r)
		}
	}
	return runs
}

// Worst is the worst outcome of any cell.
func (x Index) Worst() reports.Outcome {
	var all []reports.Outcome
	for _, c := range x.Cells {
		all = append(all, c.Verdict)
	}
	return reports.Worst(all)
}

// Cell finds a cell; nil: there is none.
func (x Index) Cell(scenario, backend string) *Cell {
	for i, c := range x.Cells {
		if c.Scenario == scenario && c.Backend == backend {
			return &x.Cells[i]
		}
	}
	return nil
}

// Tellable finds the run whose story a reader wants first: a violation that is not
// expected, else any; ok is false where nothing is violated.
func (x Index) Tellable() (c Cell, r CellRun, ok bool) {
	for _, odd := range []bool{true, false} {
		for _, c := range x.Cells {
			for _, r := range c.Runs {
				if r.Verdict == reports.Violates && r.Dir != "" && (len(r.Differs) > 0 || !odd) {
					return c, r, true
				}
			}
		}
	}
	return c, r, false
}

// Typical is the run that stands for a cell beside others: the first that shows its verdict.
func (c Cell) Typical() (r CellRun, ok bool) {
	i := slices.IndexFunc(c.Runs, func(r CellRun) bool { return r.Verdict == c.Verdict && r.Dir != "" && r.Answers != nil })
	if i < 0 {
		return r, false
	}
	return c.Runs[i], true
}

// Name is what a cell is called: "gc-pause × redis".
func (c Cell) Name() string { return c.Scenario + " × " + c.Backend }

// judged says that a run of the cell reached a judgement.
func (c Cell) judged() bool {
	return slices.ContainsFunc(c.Runs, func(r CellRun) bool { return r.Answers != nil })
}

// Odd says that the cell was judged and is not as expected.
func (c Cell) Odd() bool { return c.judged() && !c.Answers.AsExpected }

// FirstSeed is the seed of the first run of each cell; 0: nothing runs.
func (x Index) FirstSeed() uint64 {
	for _, c := range x.Cells {
		if len(c.Runs) > 0 {
			return c.Runs[0].Seed
		}
	}
	return 0
}

// Answers are those of all cells together. Of a cell that was not judged nothing is known.
func (x Index) Answers() checker.Answers {
	all := checker.Skipped()
	for _, c := range x.Cells {
		all = all.With(c.Answers)
	}
	return all
}

// IndexJSON writes an index as it stands in index.json.
func IndexJSON(w io.Writer, x Index) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(x)
}
