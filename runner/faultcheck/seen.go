package faultcheck

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/runner/faultcheck/outside"
	"github.com/dlmtest/dlmtest/scenarios"
)

// seen is all that is known of one run: what its history says of the faults, and what was measured.
type seen struct {
	strikes []*strike
	records map[string][]outside.Record // by node
	stood   []sample                    // by /proc of this machine
	c       bool                        // there is a C program
}

// strike is one fault on one victim.
type strike struct {
	label  string // of the fault, for people
	fault  scenarios.Fault
	target string
	asked  int64 // how long it was to last, ns
	begun  int64
	healed int64
	again  int64 // when connections make progress again; 0: not said
	proof  string
	lasted int64 // for so long its proof has seen it, ns; 0: not said
	seen   bool
	cut    []string
}

// window is when the fault must have been in force, whatever the machine was busy with: it has lasted as long as was
// asked for, or as its proof says, and the heal is stamped before it is done.
func (s *strike) window() (from, to int64) {
	length := s.asked
	if s.lasted > 0 {
		length = min(length, s.lasted)
	}
	return s.healed - length, s.healed
}

// strikesOf reads the faults of a history in the order of the scenario.
func strikesOf(file scenarios.Scenario, ops []history.Op) (all []*strike, err error) {
	at := map[string]*strike{}
	for _, op := range ops {
		n := op.Fault
		if n == nil {
			continue
		}
		if n.ID < 1 || n.ID > len(file.Faults) {
			return nil, fmt.Errorf("fault %d of %d", n.ID, len(file.Faults))
		}
		key := fmt.Sprint(n.ID, n.Target)
		s := at[key]
		if s == nil {
			f := file.Faults[n.ID-1]
			s = &strike{fault: f, target: n.Target, asked: int64(f.For.Max.Of(file.Lease.Of(0))), label: labelOf(f)}
			at[key], all = s, append(all, s)
		}
		switch n.Phase {
		case history.Begin:
			s.begun, s.cut = op.Time, n.Cut
		case history.Observed:
			s.seen, s.proof, s.lasted = true, n.Proof, n.Lasted
		case history.Missed, history.Failed, history.Skipped:
			s.proof = n.Proof
		case history.Heal:
			s.healed = op.Time
		case history.Again:
			s.again = op.Time
		}
	}
	for _, s := range all {
		if s.begun == 0 || s.healed == 0 {
			return nil, fmt.Errorf("the history does not tell begin and heal of the fault %s on %s", s.label, s.target)
		}
	}
	return all, nil
}

// labelOf says what is asked of a fault, in the words of scenarios.
func labelOf(f scenarios.Fault) string {
	words := []string{f.Fault}
	add := func(is bool, format string, args ...any) {
		if is {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	c := f.Clock
	sign := map[bool]string{true: "-"}[c.Back]
	add(strings.HasPrefix(f.Target, "client"), "of a client")
	add(f.Fault == "pause" && !strings.HasPrefix(f.Target, "client"), "of a server")
	add(f.Mode != "", "%s", f.Mode)
	add(f.Fault == "crash" && f.Mode == "", "lose-unsynced")
	add(f.Direction != "", "%s", f.Direction)
	add(!f.Latency.IsZero(), "%s ± %s", f.Latency, f.Jitter)
	add(f.Rate != 0, "%d bytes/s", f.Rate)
	add(!c.Step.IsZero(), "step %s%s", sign, c.Step)
	add(!c.Slew.IsZero(), "slew %g s/s", c.SlewRate)
	add(!c.Strobe.IsZero(), "strobe %s every %s", c.Strobe, c.Every)
	add(c.Drift != 0, "drift %g", c.Drift)
	add(true, "for %s", f.For.Max)
	return strings.Join(words, " ")
}

// load reads the records of all nodes of a run's folder.
func (s *seen) load(dir string) error {
	logs, err := filepath.Glob(filepath.Join(dir, "logs", "*.log"))
	if err != nil {
		return err
	}
	s.records = map[string][]outside.Record{}
	for _, path := range logs {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		records, torn := outside.Parse(data)
		if torn > len(records)/1000+8 { // a kill may take the end of a line along
			return fmt.Errorf("%s: %d records cannot be read", path, torn)
		}
		slices.SortStableFunc(records, func(a, b outside.Record) int { return int(min(max(a.At-b.At, -1), 1)) })
		s.records[strings.TrimSuffix(filepath.Base(path), ".log")] = records
	}
	return nil
}

// of are the records of a node that tell what.
func (s *seen) of(node string, what ...string) (some []outside.Record) {
	for _, r := range s.records[node] {
		if slices.Contains(what, r.What) {
			some = append(some, r)
		}
	}
	return some
}

// between are the records whose time lies within.
func between(all []outside.Record, from, to int64) (some []outside.Record) {
	for _, r := range all {
		if r.At >= from && r.At <= to {
			some = append(some, r)
		}
	}
	return some
}

// first is the first record at or after a time, or nil.
func first(all []outside.Record, from int64) *outside.Record {
	for i := range all {
		if all[i].At >= from {
			return &all[i]
		}
	}
	return nil
}

// who lists who is told of, in order.
func who(all []outside.Record) (names []string) {
	for _, r := range all {
		if !slices.Contains(names, r.Who) {
			names = append(names, r.Who)
		}
	}
	slices.Sort(names)
	return names
}

func by(all []outside.Record, name string) []outside.Record {
	return slices.DeleteFunc(slices.Clone(all), func(r outside.Record) bool { return r.Who != name })
}

// soon is how long before a fault and after its heal the victim must be seen at work, so that silence in between
// is the fault's doing. It is no limit of anything: a busy machine may take a while.
const soon = int64(10 * time.Second)

// around says whether something was heard before a fault began, and after it was healed.
func (s *strike) around(all []outside.Record) (before, after bool) {
	return len(between(all, s.begun-soon, s.begun)) > 0, first(all, s.healed) != nil
}
