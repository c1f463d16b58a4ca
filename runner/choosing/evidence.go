// Package choosing makes the page that says which lock to take for what: saved matrices
// are gathered into a record of what each lock showed, and the advice follows from the
// record by rules. Nothing is advised that no run has shown.
package choosing

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/internal/bounded"
)

// Evidence is what saved matrices showed; docs/choosing.json holds it.
type Evidence struct {
	Date     string     `json:"date"` // of the newest matrix, UTC
	Version  string     `json:"version"`
	Runtime  string     `json:"runtime"`
	Machine  string     `json:"machine,omitempty"`
	Commands [][]string `json:"commands"` // that repeat the matrices
	Locks    []Lock     `json:"locks"`    // the reference locks first
	Capacity []Capacity `json:"capacity,omitempty"`
}

// Lock is one lock with all that was seen of it.
type Lock struct {
	Backend string   `json:"backend"`
	Library string   `json:"library,omitempty"` // with its version; "": the reference
	Servers string   `json:"servers"`           // "3 redis, 3 sentinel"
	Count   int      `json:"count"`             // of the servers
	Leased  bool     `json:"leased"`
	Token   bool     `json:"token"`
	Acquire *Latency `json:"acquire,omitempty"` // of one client that has nobody to wait for
	Release *Latency `json:"release,omitempty"`
	Shown   []Shown  `json:"shown"`
}

// Latency is how long one kind of operation took.
type Latency struct {
	Count int           `json:"count"`
	P50   time.Duration `json:"p50_ns"`
	P99   time.Duration `json:"p99_ns"`
}

// Shown is what one cell of a matrix showed, in each of its runs.
type Shown struct {
	Scenario string `json:"scenario"`
	FenceOn  string `json:"fence_on"` // what registers a token: write or read
	Runs     []Seen `json:"runs"`     // those that count
}

// Seen is what one run answered.
type Seen struct {
	Answers checker.Answers `json:"answers"`
	Broken  []string        `json:"broken,omitempty"` // the promises that were broken, by property
	Once    *Once           `json:"once,omitempty"`   // of a payment: was every order charged once?
}

// Once says whether an effect outside of the data came once.
type Once struct {
	Unfenced checker.Reply `json:"unfenced"`
	Fenced   checker.Reply `json:"fenced"`
}

// Capacity is what a lock and a session cost at one server, from dlmtest capacity --json.
type Capacity struct {
	Backend string  `json:"backend"`
	Version string  `json:"version"`
	Rows    []Slope `json:"rows"`
}

// Slope is what one more costs.
type Slope struct {
	What  string  `json:"what"`
	Unit  string  `json:"unit"`
	One   float64 `json:"one"`
	Error float64 `json:"error"` // half of the 95 % interval
}

// mostOfEvidence is many times what all locks need.
const mostOfEvidence = 16 << 20

// Read reads a record.
func Read(path string) (e Evidence, err error) {
	text, err := bounded.ReadNamed(path, mostOfEvidence)
	if err == nil {
		err = bounded.Values(path, text)
	}
	if err == nil {
		err = json.Unmarshal(text, &e)
	}
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		err = fmt.Errorf("%s is a %s: another dlmtest wrote it; make it anew from the matrices", wrong.Field, wrong.Value)
	}
	if shown := e.size(); err == nil && shown > mostShown {
		err = fmt.Errorf("%w: it has %d locks, cells and rows, and a page at most %d", bounded.ErrTooLarge, shown, mostShown)
	}
	if err != nil {
		err = fmt.Errorf("record %s: %w", path, err)
	}
	return e, err
}

// mostShown is many times what all locks showed. A million of them took more than 40 s to make a page of.
const mostShown = 10_000

// size is how much there is to be told.
func (e Evidence) size() int {
	n := len(e.Commands) + len(e.Locks) + len(e.Capacity)
	for _, l := range e.Locks {
		n += len(l.Shown)
		for _, s := range l.Shown {
			n += len(s.Runs)
			for _, r := range s.Runs {
				n += len(r.Broken)
			}
		}
	}
	for _, c := range e.Capacity {
		n += len(c.Rows)
	}
	return n
}

// Write writes the record as JSON.
func (e Evidence) Write(w io.Writer) error {
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	return out.Encode(e)
}

// Name is what the lock is called.
func (l Lock) Name() string {
	if l.Library != "" {
		return l.Library
	}
	return l.Backend
}

// reference says that the lock is dlmtest's own.
func (l Lock) reference() bool { return l.Library == "" }

// in is what the lock showed in a scenario, with the fence of a kind; nil: it was not run.
func (l Lock) in(scenario, fenceOn string) *Shown {
	i := slices.IndexFunc(l.Shown, func(s Shown) bool { return s.Scenario == scenario && s.FenceOn == fenceOn })
	if i < 0 {
		return nil
	}
	return &l.Shown[i]
}

// asked is one answer of each run of the lock in a scenario; nothing where it was not run.
func (l Lock) asked(scenario, fenceOn string, of func(Seen) checker.Reply) (all []checker.Reply) {
	if s := l.in(scenario, fenceOn); s != nil {
		for _, r := range s.Runs {
			all = append(all, of(r))
		}
	}
	return all
}

// reply is the answer of all runs of the lock in a scenario: the worst.
func (l Lock) reply(scenario, fenceOn string, of func(Seen) checker.Reply) checker.Reply {
	worst := checker.NA
	for _, r := range l.asked(scenario, fenceOn, of) {
		worst = checker.Merge(worst, checker.Verdict(r))
	}
	return checker.Reply(worst)
}

// broken are the promises that were broken in a scenario, and how many runs broke each.
func (s *Shown) broken() (names []string, runs map[string]int) {
	runs = map[string]int{}
	for _, r := range s.Runs {
		for _, name := range r.Broken {
			if runs[name]++; runs[name] == 1 {
				names = append(names, name)
			}
		}
	}
	return names, runs
}

func promise(s Seen) checker.Reply  { return s.Answers.Promise }
func unfenced(s Seen) checker.Reply { return s.Answers.Unfenced }
func fenced(s Seen) checker.Reply   { return s.Answers.Fenced }
func wentOn(s Seen) checker.Reply   { return s.Answers.WentOn }

// once and onceFenced say whether an effect outside came once, without a fence and with one.
func once(s Seen) checker.Reply {
	if s.Once == nil {
		return checker.NotAsked
	}
	return s.Once.Unfenced
}

func onceFenced(s Seen) checker.Reply {
	if s.Once == nil {
		return checker.NotAsked
	}
	return s.Once.Fenced
}

// errThin says that matrices do not show what the page tells.
var errThin = errors.New("the matrices do not show what the page tells")
