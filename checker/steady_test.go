package checker

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
)

// What is called steady rests on nothing that a server's agent records: with the end of those
// records missing, its violations stand. A violation that is open without them they may show, or excuse: of a lock without
// a lease they say what may have ended a grant.
func TestSteadyReadsNoServer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		setup, ops := garbage(t)
		setup.Servers = append(slices.Clone(setup.Servers), "server")
		without := Judge(setup, ops)
		last := int64(0)
		if len(ops) > 0 {
			last = ops[len(ops)-1].Time
		}
		all := slices.Clone(ops)
		at := func(name string) int64 { return rapid.Int64Range(0, last).Draw(t, name) }
		for range rapid.IntRange(1, 3).Draw(t, "stalls") {
			all = append(all, history.Op{Time: at("stall"), Node: "server", Type: history.Note, F: history.Stall, Length: 2000})
		}
		kind, begin := rapid.SampledFrom([]string{"pause", "kill", "clock", "crash"}).Draw(t, "kind"), at("begin")
		for phase, time := range map[history.Phase]int64{history.Begin: begin, history.Observed: last, history.Heal: last} {
			all = append(all, history.Op{Time: time, Node: "server", Type: history.Note, F: history.Fault, Fault: &history.FaultNote{ID: 7, Kind: kind, Target: "server", Phase: phase}})
		}
		all = append(all, history.Op{Time: at("end"), Node: "server", Type: history.Note, F: history.ServerEnd, Error: "panic"})
		history.Sort(all)
		with := Judge(setup, all)
		for i, p := range without.Properties {
			if c, _ := Find(p.Name); !c.rests.steady || c.rests.servers {
				continue
			}
			excused := func(v Violation) bool {
				return strings.Contains(v.Message, "but had been told at") || strings.Contains(v.Message, "an acquire that it was told no end of")
			}
			if slices.ContainsFunc(p.Violations, excused) {
				continue // a fault of a server excuses it, so it counts only where all records of servers have come: see unlessServers
			}
			q, open := with.Properties[i], func(v Violation) bool { return v.Possible }
			if slices.ContainsFunc(p.Violations, open) {
				p.Violations = slices.DeleteFunc(slices.Clone(p.Violations), open)
				q.Violations = slices.DeleteFunc(slices.Clone(q.Violations), func(v Violation) bool {
					return !slices.ContainsFunc(p.Violations, func(w Violation) bool { return v.At == w.At && v.Key == w.Key })
				})
			}
			for _, key := range setup.Keys {
				if got, want := instants(q, key), instants(p, key); !slices.Equal(got, want) || p.Verdict == Violated && q.Verdict != Violated {
					t.Fatalf("%s: %s at %v, with what the server's agent recorded %s at %v", p.Name, p.Verdict, want, q.Verdict, got)
				}
			}
		}
	})
}
