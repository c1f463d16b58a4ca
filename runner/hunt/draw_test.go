package hunt

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/internal/settings"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/nemesis/agent/links"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/runner/matrix"
	"github.com/dlmtest/dlmtest/scenarios"
)

// spaceOf is the space of a backend as a hunt has it, with messages of its protocol.
func spaceOf(t *testing.T, backend string) Space {
	t.Helper()
	s := Spec{Options: runner.Options{Backend: backend, Settings: settings.Default()}, Applies: runner.Applies}
	if err := s.ForLock(t.Context()); err != nil {
		t.Fatal(backend, err)
	}
	s.Space.Messages = append(s.Space.Messages, map[string][]links.Passed{
		"redis": {{Direction: links.Request, Name: "EVALSHA"},
			{Direction: links.Answer, Name: "+OK"}}, "etcd": {{Direction: links.Request, Name: "HEADERS"}},
		"zookeeper": {{Direction: links.Request, Name: "create"},
			{Direction: links.Answer, Name: "reply"}}, "postgres": {{Direction: links.Request, Name: "Query"}},
	}[locks.Table[backend].Profile]...)
	return s.Space
}

// Every draw of every backend is a scenario that can be run, the same for the same seed, and so
// are its variations. Together they hold every kind of fault, and every workload of the lock.
func TestDraw(t *testing.T) {
	const seeds = 2000
	for _, backend := range locks.Names() {
		if locks.Table[backend].Broken != nil {
			continue
		}
		t.Run(backend, func(t *testing.T) {
			s := spaceOf(t, backend)
			kinds, workloads := map[string]bool{}, map[string]bool{}
			for seed := range uint64(seeds) {
				drawn := Draw(seed, int(seed), s)
				if why := s.trouble(drawn); why != "" {
					t.Fatalf("seed %d: %s\n%s", seed, why, drawn.YAML())
				}
				workloads[drawn.Workload] = true
				for _, f := range drawn.Faults {
					kinds[f.Fault] = true
				}
				if seed%20 != 0 {
					continue
				}
				if again := Draw(seed, int(seed), s); string(again.YAML()) != string(drawn.YAML()) {
					t.Fatalf("seed %d gives\n%s\nand then\n%s", seed, drawn.YAML(), again.YAML())
				}
				varied := Mutate(seed, 0, s, drawn)
				if back, err := scenarios.Parse("varied", varied.YAML()); err != nil || s.trouble(varied) != "" || string(back.YAML()) != string(varied.YAML()) {
					t.Fatalf("seed %d varied: %v %s\n%s", seed, err, s.trouble(varied), varied.YAML())
				}
			}
			for _, w := range s.Workloads {
				if !workloads[w] {
					t.Errorf("no trial is %s", w)
				}
			}
			for _, k := range s.kinds() {
				can := (len(s.Messages) > 0 || !k.MessageOnly) && (!k.Disk || locks.Table[backend].Profile != "lockservice") // its nodes keep nothing
				if !kinds[k.Name] && can {
					t.Errorf("no trial has a %s", k.Name)
				}
			}
		})
	}
}

// A hunt begins with each use of the lock, with several clients and no fault.
func TestEachUseComesFirst(t *testing.T) {
	s := spaceOf(t, "zookeeper")
	used := map[string]bool{}
	for n := range s.plain() {
		first := s.plainUse(n)
		if why := s.trouble(first); why != "" || len(first.Faults) > 0 || first.Clients < 3 {
			t.Errorf("%s\n%s", why, first.YAML())
		}
		used[fmt.Sprint(first.Workload, first.Work, first.Wait)] = true
	}
	if len(used) != s.plain() {
		t.Errorf("the uses %v", used)
	}
}

// Each number is one plain use, or the next of the others of its shard: together the shards have each plain use once, the uses of the
// lock come before all, and from then on two of three are others until no use is left.
func TestPlainUsesAmongOthers(t *testing.T) {
	s := Space{Workloads: []string{"guarded-write", "try", "leader", "own-key"}}
	for _, shards := range []int{0, 1, 2, 3, 5} {
		had, others := map[int]bool{}, map[int]int{}
		for number := 1; number <= 200; number++ {
			shard := matrix.Shard{Count: shards, Index: (number-1)%max(shards, 1) + 1}
			use, n := s.plainly(number, shard)
			switch {
			case use < 0 && n != others[shard.Index], use >= 0 && had[use], number <= len(s.Workloads) && use != number-1, use >= s.plain():
				t.Fatalf("of %d shards, trial %d is use %d, or other %d of %d", shards, number, use, n, others[shard.Index])
			case use < 0:
				others[shard.Index]++
			default:
				had[use] = true
			}
		}
		if len(had) != s.plain() {
			t.Errorf("of %d shards, %d uses of %d", shards, len(had), s.plain())
		}
	}
}

// A variation differs in little: no more than one fault, or one number of the loop.
func TestMutateChangesOneThing(t *testing.T) {
	s := Space{Workloads: []string{"guarded-write", "try", "two-keys"}, Leases: []time.Duration{time.Second},
		Extends: true, Clients: 12, Servers: true,
		Messages: []links.Passed{{Direction: links.Request, Name: "EVAL"}}}
	for seed := range uint64(500) {
		from := Draw(seed, int(seed), s)
		to := Mutate(seed+1, 0, s, from)
		if to.Name == from.Name || len(to.Faults) > len(from.Faults)+1 || len(to.Faults) < len(from.Faults)-1 {
			t.Fatalf("from\n%s\nto\n%s", from.YAML(), to.YAML())
		}
		changed := 0
		for _, f := range to.Faults {
			if !slices.ContainsFunc(from.Faults, func(g scenarios.Fault) bool { g.After = f.After; return f == g }) {
				changed++
			}
		}
		for _, differs := range []bool{to.Workload != from.Workload, to.Clients != from.Clients,
			to.Work != from.Work, to.Think != from.Think,
			to.Wait != from.Wait, to.Renew != from.Renew} {
			if differs {
				changed++
			}
		}
		if changed > 2 { // a workload may bring a number of its own
			t.Fatalf("seed %d changes %d things: from\n%s\nto\n%s", seed, changed, from.YAML(), to.YAML())
		}
	}
}

// Where parts of a second are granted, a lease that is no number of seconds is tried, in a plain use of each kind and now and then
// among the draws: cut or rounded to seconds it ends while its holder works, and others ask.
func TestOddLease(t *testing.T) {
	for backend, odd := range map[string]bool{"redis": true, "zookeeper": true, "etcd": false} {
		s := spaceOf(t, backend).Learnt(nil, nil, 0)
		if slices.Contains(s.Leases, oddLease) != odd {
			t.Fatalf("%s: leases %v", backend, s.Leases)
		}
		uses, drawn := 0, 0
		seen := func(trial scenarios.Scenario) (n int) {
			if trial.Lease.Fixed == oddLease && trial.Work.Leases > 0.72 && trial.Work.Leases < 1 && !trial.Renew {
				n = 1
			}
			return n
		}
		for n := range s.plain() {
			uses += seen(s.plainUse(n))
		}
		for seed := range uint64(2000) {
			drawn += seen(Draw(seed, int(seed), s))
		}
		if want := len(s.Workloads); odd && (uses != want || drawn < 5) || !odd && uses+drawn > 0 {
			t.Errorf("%s: %d of %d plain uses, %d of 2,000 draws", backend, uses, want, drawn)
		}
	}
}

// Behind what ends its session a holder of a lock that tells of losses holds on for as long as the judge gives it time to be told.
func TestLongHold(t *testing.T) {
	for _, backend := range []string{"zookeeper", "postgres", "postgres-advisory"} {
		s := spaceOf(t, backend)
		for seed := range uint64(20) {
			d := newDie(seed)
			d.visit = int(seed)
			c := longHold(d, s, s.loop(usual, s.Leases[0]))
			c.Faults[0].Count = 1
			lease := c.Lease.Fixed
			held := c.Work.Of(lease) - 2*c.Faults[0].For.Max.Of(lease)
			if why := s.trouble(c); why != "" || held < checker.Patience(lease) || c.Duration.Of(lease) < c.Work.Of(lease) {
				t.Fatalf("%s, seed %d: %s\n%s", backend, seed, why, c.YAML())
			}
		}
	}
}
