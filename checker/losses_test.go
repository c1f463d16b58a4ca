package checker

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/history"
)

// TestLosses says of faults which servers they take away, and whether the rest serves.
func TestLosses(t *testing.T) {
	five := []string{"s-1", "s-2", "s-3", "s-4", "s-5"}
	clients := []string{"c-1", "c-2"}
	cut := func(a, b []string) map[string][]string {
		all := map[string][]string{}
		for _, n := range a {
			all[n] = b
		}
		for _, n := range b {
			all[n] = a
		}
		return all
	}
	for _, c := range []struct {
		what, kind string
		victims    map[string][]string // with whose packets each drops
		servers    []string
		lost       string
		served     bool
		minority   bool
	}{
		{"one dies", "kill", map[string][]string{"s-2": nil}, five, "s-2", true, true},
		{"three die", "kill", map[string][]string{"s-1": nil, "s-2": nil, "s-3": nil}, five, "s-1 s-2 s-3 s-4 s-5", false, false},
		{"two are stopped", "pause", map[string][]string{"s-4": nil, "s-5": nil}, five, "s-4 s-5", true, true},
		{"a client dies", "kill", map[string][]string{"c-1": nil}, five, "", true, false},
		{"a minority is cut off from all", "partition", cut([]string{"s-1", "s-2"}, []string{"s-3", "s-4", "s-5", "c-1", "c-2"}), five, "s-1 s-2", true, true},
		{"a minority is cut off from the servers alone", "partition", cut([]string{"s-1"}, five[1:]), five, "s-1", true, true},
		{"a majority is cut off from the clients", "partition", cut([]string{"s-3", "s-4", "s-5"}, []string{"s-1", "s-2", "c-1", "c-2"}), five, "s-1 s-2 s-3 s-4 s-5", false, false},
		{"one client is cut off from all servers", "partition", cut([]string{"c-1"}, five), five, "", true, false},
		{"the only one dies", "crash", map[string][]string{"s-1": nil}, five[:1], "s-1", false, false},
		{"half of two", "kill", map[string][]string{"s-1": nil}, five[:2], "s-1 s-2", false, false},
		{"a wrong clock", "clock", map[string][]string{"s-1": nil}, five, "", true, false},
	} {
		setup := history.Setup{Lease: 1e9, Keys: []string{"k"}, Clients: clients, Servers: c.servers}
		var ops []history.Op
		for _, phase := range []history.Phase{history.Begin, history.Observed, history.Heal} {
			for _, node := range slices.Concat(five, clients) {
				if peers, ok := c.victims[node]; ok {
					ops = append(ops, history.Op{Time: int64(len(ops)+1) * 1e6, Node: node, Type: history.Note, F: history.Fault,
						Fault: &history.FaultNote{ID: 1, Kind: c.kind, Target: node, Phase: phase, Cut: peers}})
				}
			}
		}
		history.Sort(ops)
		all := Losses(setup, ops)
		if c.lost == "" {
			if len(all) > 0 {
				t.Errorf("%s: %+v", c.what, all)
			}
			continue
		}
		if len(all) != 1 {
			t.Errorf("%s: %d losses", c.what, len(all))
			continue
		}
		if l := all[0]; strings.Join(l.Lost, " ") != c.lost || l.Served != c.served || l.Minority(len(c.servers)) != c.minority || !l.Seen || l.From >= l.To {
			t.Errorf("%s: %+v", c.what, l)
		}
	}
}

// A loss lasts while its fault is in force on all its victims, and was seen if it was at each.
func TestLossesOfManyVictims(t *testing.T) {
	setup := history.Setup{Lease: 1e9, Keys: []string{"k"}, Clients: []string{"c"}, Servers: []string{"s-1", "s-2", "s-3", "s-4", "s-5"}}
	var ops []history.Op
	note := func(at int64, id int, target string, phase history.Phase) {
		ops = append(ops, history.Op{Time: at, Node: target, Type: history.Note, F: history.Fault,
			Fault: &history.FaultNote{ID: id, Kind: "pause", Target: target, Phase: phase}})
	}
	note(1, 1, "s-1", history.Begin)
	note(2, 1, "s-1", history.Observed)
	note(3, 2, "s-3", history.Begin)
	note(4, 1, "s-2", history.Begin)
	note(5, 2, "s-3", history.Observed)
	note(6, 1, "s-2", history.Missed)
	note(7, 1, "s-2", history.Heal)
	note(8, 2, "s-3", history.Heal)
	note(8, 3, "s-4", history.Begin) // over at once
	note(8, 3, "s-4", history.Heal)
	note(9, 1, "s-1", history.Heal)
	note(10, 4, "s-4", history.Begin) // in force to the end
	note(11, 4, "s-4", history.Observed)
	note(12, 5, "s-5", history.Begin) // never observed
	note(14, 5, "s-5", history.Heal)
	for i := range ops {
		ops[i].Index = i
	}
	got := Losses(setup, ops)
	want := []Loss{
		{1, "pause", []string{"s-1", "s-2"}, 4, 7, true, false}, {2, "pause", []string{"s-3"}, 3, 8, true, true},
		{4, "pause", []string{"s-4"}, 10, 14, true, true}, {5, "pause", []string{"s-5"}, 12, 14, true, false},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	for _, c := range []struct {
		lost    []string
		served  bool
		servers int
		want    bool
	}{{nil, true, 3, false}, {[]string{"a"}, true, 2, false}, {[]string{"a"}, true, 3, true}, {[]string{"a"}, false, 3, false}, {[]string{"a", "b"}, true, 3, false}} {
		if (Loss{Lost: c.lost, Served: c.served}).Minority(c.servers) != c.want {
			t.Errorf("%+v", c)
		}
	}
}
