package hunt

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/nemesis/agent/links"
	"github.com/dlmtest/dlmtest/reports/junit"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/scenarios"
)

// Format is that of hunt.json; a later one may hold more.
const Format = 1

// Report is hunt.json: what a hunt has tried and found.
type Report struct {
	Format    int             `json:"format"`
	Lock      string          `json:"lock"`
	Settings  map[string]any  `json:"settings"` // beside their defaults
	Version   string          `json:"version"`
	Command   []string        `json:"command"`
	Seed      uint64          `json:"seed"`
	Started   time.Time       `json:"started"`
	Seconds   float64         `json:"seconds"`          // of all its sessions
	Trials    int             `json:"trials"`           // that were judged
	Parallel  int             `json:"parallel"`         // runs at a time, in the last session
	Shard     string          `json:"shard,omitempty"`  // the part of the trials that was tried, such as 2/5
	Merged    []string        `json:"merged,omitempty"` // folders of the shards that this was made of
	Next      int             `json:"next"`             // number of the next trial
	Runs      int             `json:"runs"`             // with repeats, those of the reference lock, and of shrinking
	Shared    int             `json:"shared,omitempty"` // trials on a cluster that had served another one
	Disturbed int             `json:"disturbed"`        // trials that the machine disturbed, and in which something stayed open
	Failed    int             `json:"failed"`           // trials that reached no judgement
	Features  int             `json:"features"`         // that were seen in any trial
	Messages  []links.Passed  `json:"messages"`         // that faults could wait for
	Findings  []*Finding      `json:"findings"`
	Left      []*Dismissed    `json:"dismissed"` // violations that are no findings, and why
	Coverage  []Cover         `json:"coverage"`
	Stopped   string          `json:"stopped,omitempty"`    // why it ended before its time
	Little    string          `json:"too_little,omitempty"` // why finding nothing says nothing
	coverage  map[Cover]Cover // by fault and trigger
	tried     []Tried         // of all parts, while they are merged
}

// Finding is a violation that this lock shows and should not.
type Finding struct {
	Property string `json:"property"`
	Cause    string `json:"cause"` // by which it is told from others of its property
	Traits
	Message        string   `json:"message"`
	Why            string   `json:"why"` // it counts
	Scenario       string   `json:"scenario"`
	Command        []string `json:"command"`
	Size           string   `json:"size"`
	Found          int      `json:"found"` // in so many runs
	Of             int      `json:"of"`
	ReferenceFound int      `json:"reference_found"`
	ReferenceOf    int      `json:"reference_of"`
	Seconds        float64  `json:"seconds"` // of the hunt until it was confirmed
	Trial          int      `json:"trial"`   // in which it was seen first
	Again          int      `json:"again"`   // later trials that showed the same
	Shrunk         bool     `json:"shrunk"`
	Note           string   `json:"note,omitempty"` // why it is not proven, or not as small as can be
	Run            string   `json:"run"`            // the folder of one that shows it
	Story          []Turn   `json:"story"`          // how it came about there

	Seed  uint64 `json:"seed"`
	Draft string `json:"draft"` // the scenario in which it was seen first
	Owed  bool   `json:"owed"`  // by the service, and no fault is an excuse
	begun bool   // to be made small, in this session
	from  string // the part that has it, while parts are merged
}

func (f *Finding) cause() Cause { return Cause{f.Property, f.Cause, f.Traits} }

// Dismissed are violations of one cause that are no finding.
type Dismissed struct {
	Property string   `json:"property"`
	Cause    string   `json:"cause"`
	Decision Decision `json:"decision"`
	Why      string   `json:"why"`
	Times    int      `json:"times"`
}

// SeenOnce are the properties whose violation did not come again often enough to be a finding.
func (r *Report) SeenOnce() []string { return r.leftAs(Passing) }

// Undecided are the properties whose violation was not looked into, as the time was over.
func (r *Report) Undecided() []string { return r.leftAs(Late) }

func (r *Report) leftAs(decision Decision) (properties []string) {
	for _, d := range r.Left {
		if d.Decision == decision {
			properties = append(properties, d.Property)
		}
	}
	slices.Sort(properties)
	return slices.Compact(properties)
}

// Cover says how often a fault was tried at a trigger, and what came of it.
type Cover struct {
	Fault   string `json:"fault"`
	Trigger string `json:"trigger"`
	Tried   int    `json:"tried"`
	Seen    int    `json:"seen"`    // observed at its victim
	Missed  int    `json:"missed"`  // not observed, or it came too late
	Skipped int    `json:"skipped"` // it could not be, or nobody came by
}

// triggerOf is when a fault comes, in words.
func triggerOf(f scenarios.Fault) string {
	on := cmp.Or(f.On, "at")
	if f.When.Name != "" {
		on = "message " + cmp.Or(f.When.Direction, "request") + " " + f.When.Name
	}
	return on
}

// outcomes are what came of each fault of a trial, all its repetitions together.
func outcomes(t scenarios.Scenario, ops []history.Op) (all []map[history.Phase]bool) {
	phases := map[int]map[history.Phase]bool{}
	for i := range ops {
		if f := ops[i].Fault; f != nil {
			if phases[f.ID] == nil {
				phases[f.ID] = map[history.Phase]bool{}
			}
			phases[f.ID][f.Phase] = true
		}
	}
	id := 1
	for _, f := range t.Faults {
		seen := map[history.Phase]bool{}
		for range max(f.Count, 1) {
			maps.Copy(seen, phases[id])
			id++
		}
		all = append(all, seen)
	}
	return all
}

// cover counts what came of the faults of a trial.
func (r *Report) cover(t scenarios.Scenario, ops []history.Op) {
	for i, seen := range outcomes(t, ops) {
		key := Cover{Fault: t.Faults[i].Fault, Trigger: triggerOf(t.Faults[i])}
		c := r.coverage[key]
		c.Fault, c.Trigger = key.Fault, key.Trigger
		c.Tried++
		switch {
		case seen[history.Observed]:
			c.Seen++
		case seen[history.Skipped] || len(seen) == 0:
			c.Skipped++
		default:
			c.Missed++
		}
		r.coverage[key] = c
	}
}

// settle fills in what follows from the rest.
func (r *Report) settle() {
	r.Coverage = slices.SortedFunc(maps.Values(r.coverage), func(a, b Cover) int {
		return cmp.Or(cmp.Compare(a.Fault, b.Fault), cmp.Compare(a.Trigger, b.Trigger))
	})
	slices.SortFunc(r.Left, func(a, b *Dismissed) int { return cmp.Compare(a.Cause, b.Cause) })
}

// Unreached are the kinds of faults that were never seen at a victim.
func (r *Report) Unreached() (kinds []string) {
	seen := map[string]bool{}
	for _, c := range r.Coverage {
		seen[c.Fault] = seen[c.Fault] || c.Seen > 0
	}
	for _, k := range history.FaultKinds {
		if !seen[k.Name] {
			kinds = append(kinds, k.Name)
		}
	}
	return kinds
}

// PerMinute is how many runs the hunt made in a minute.
func (r *Report) PerMinute() float64 {
	if r.Seconds <= 0 {
		return 0
	}
	return float64(r.Runs) / r.Seconds * 60
}

// ReportFile is the name of what scripts read of a hunt, in its folder.
const ReportFile = "hunt.json"

// Save writes all that is made of a report, each file whole or not at all.
func (r *Report) Save(in *os.Root) error {
	r.settle()
	return errors.Join(
		runner.Write(in, ReportFile, func(w io.Writer) error {
			e := json.NewEncoder(w)
			e.SetIndent("", "  ")
			return e.Encode(r)
		}),
		runner.Write(in, "index.md", r.Markdown),
		runner.Write(in, "index.html", func(w io.Writer) error { return r.HTML(w, r.pictures(in)) }),
		runner.Write(in, "junit.xml", r.junit))
}

// junit writes a case for each finding, and one that fails the hunt in which too little was tried.
func (r *Report) junit(w io.Writer) error {
	took := time.Duration(r.Seconds * float64(time.Second))
	s := junit.Suite{Name: "hunt " + r.Lock, Started: r.Started, Took: took}
	for _, f := range r.Findings {
		s.Cases = append(s.Cases, junit.Case{Class: r.Lock, Name: f.Property, State: junit.CaseFailed,
			Message: f.Message,
			Body:    f.Why + "\nscenario: " + f.Scenario + "\n"})
	}
	whole := junit.Case{Class: r.Lock, Name: "hunt", Took: took, Out: r.Summary()}
	if r.Little != "" {
		whole.State, whole.Message = junit.CaseError, r.Little
	}
	return junit.WriteSuites(w, "dlmtest hunt", took, []junit.Suite{{Name: s.Name, Started: s.Started,
		Took: took, Cases: append(s.Cases, whole)}})
}
