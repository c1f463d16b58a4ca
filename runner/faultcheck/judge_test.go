package faultcheck

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/runner/faultcheck/outside"
	"github.com/dlmtest/dlmtest/scenarios"
)

const milli = int64(time.Millisecond)

// struck is a fault that lasted from 1000 to 1500 ms.
func struck(f scenarios.Fault, target string) *strike {
	return &strike{label: f.Fault, fault: f, target: target, asked: 500 * milli, begun: 1000 * milli, healed: 1500 * milli, seen: true, proof: "seen"}
}

// told are records of one node at some times, in ms.
func told(who, what string, at ...int64) (all []outside.Record) {
	for i, t := range at {
		all = append(all, outside.Record{Who: who, What: what, At: t * milli, N: int64(i)})
	}
	return all
}

func fixed(d time.Duration) scenarios.Duration { return scenarios.Duration{Fixed: d} }

// Each measurement sees a fault that was none, or one that does more than it says.
func TestDisagreements(t *testing.T) {
	gap := func(who string, from, to int64) []outside.Record {
		all := append(told(who, outside.Beat, from-25), told(who, outside.Beat, to+25, 1700)...)
		return append(all, outside.Record{Who: who, What: outside.Gap, From: from * milli, At: to * milli})
	}
	family := func(from, to int64) (all []outside.Record) {
		for _, name := range relatives {
			all = append(all, gap(name, from, to)...)
		}
		return all
	}
	found := func(n ...int64) (all []outside.Record) {
		for i, name := range []string{"synced", "written", "unnamed", "sync", "syncfs"} {
			all = append(all, outside.Record{Who: name, What: outside.Found, At: 1600 * milli, N: n[i], M: max(n[i], 0) * 512})
		}
		return append(append(all, told("synced", outside.Synced, 700, 800, 900)...), told("written", outside.Written, 700, 800, 900)...)
	}
	clock := func(in, after int64) []outside.Record {
		return []outside.Record{{Who: "main", What: outside.Clock, At: 1200 * milli, From: 1200*milli - 1, N: in}, {Who: "main", What: outside.Clock, At: 1700 * milli, From: 1700*milli - 1, N: after}}
	}
	trip := func(sent, server, back int64) outside.Record {
		return outside.Record{What: outside.Trip, From: sent * milli, M: server * milli, At: back * milli}
	}
	sent, later := told("link", outside.Sent, 1200), trip(1600, 1601, 1602)
	broken := told("link", outside.Broken, 1002)
	step := scenarios.Fault{Fault: "clock", Clock: scenarios.Clock{Step: fixed(7 * time.Second)}}
	for _, test := range []struct {
		name    string
		fault   scenarios.Fault
		records []outside.Record
		want    string // of what disagrees; empty: nothing
	}{
		{"a pause", scenarios.Fault{Fault: "pause"}, family(999, 1501), ""},
		{"a daemon runs on", scenarios.Fault{Fault: "pause"}, append(family(999, 1501), told("daemon", outside.Beat, 1250)...), "daemon ran"},
		{"it ends early", scenarios.Fault{Fault: "pause"}, family(999, 1400), "ran"},
		{"a stall that stops the client", scenarios.Fault{Fault: "stall-worker"}, append(told("worker", outside.Call, 900, 1600), gap("main", 999, 1501)...), "stood still"},
		{"a stall in which work goes on", scenarios.Fault{Fault: "stall-worker"}, append(told("worker", outside.Call, 900, 1200, 1600), told("main", outside.Beat, 1200)...), "asked"},
		{"a kill that kills nobody", scenarios.Fault{Fault: "kill"}, told("main", outside.Beat, 900, 1600), "runs on"},
		{"a crash", scenarios.Fault{Fault: "crash"}, found(3, 0, -1, 20, 20), ""},
		{"a crash that loses what was synced", scenarios.Fault{Fault: "crash"}, found(2, 0, -1, 20, 20), "2 are"},
		{"a crash that loses nothing", scenarios.Fault{Fault: "crash"}, found(3, 3, 3, 20, 20), "bytes of it are"},
		{"a syncfs that keeps nothing", scenarios.Fault{Fault: "crash"}, found(3, 0, -1, 20, -1), "from 5.9 on"},
		{"a sync that keeps a part", scenarios.Fault{Fault: "crash", Mode: "torn"}, found(3, 0, -1, 19, 20), "19 of 20"},
		{"lose-all that leaves a file", scenarios.Fault{Fault: "crash", Mode: "lose-all"}, found(-1, -1, 0, -1, -1), "entries are"},
		{"a kill that loses what was written", scenarios.Fault{Fault: "kill"}, found(3, 1, 3, 20, 20), "1 of 3"},
		{"a disk stall in which one returns", scenarios.Fault{Fault: "disk-stall"}, []outside.Record{{What: outside.Fsync, At: 900 * milli, From: 899 * milli}, {What: outside.Fsync, At: 1200 * milli, From: 1199 * milli}, {What: outside.Fsync, At: 1600 * milli, From: 1300 * milli}}, "returned"},
		{"a step", step, clock(7e9, 0), ""},
		{"a step of one second", step, clock(1e9, 0), "read 1000 ms"},
		{"a step that stays", step, clock(7e9, 7e9), "after the heal"},
		{"no step", step, clock(0, 0), "read 0.00 ms"},
		{"latency", scenarios.Fault{Fault: "latency", Latency: fixed(60 * time.Millisecond)}, []outside.Record{trip(1100, 1131, 1162)}, ""},
		{"latency of one way alone", scenarios.Fault{Fault: "latency", Latency: fixed(60 * time.Millisecond)}, []outside.Record{trip(1100, 1161, 1162)}, "came in"},
		{"a link as wide as ever", scenarios.Fault{Fault: "bandwidth", Rate: 65536}, []outside.Record{{What: outside.Bulk, From: 1100 * milli, At: 1110 * milli, N: 16384}}, "went through"},
		{"a reset that breaks nothing", scenarios.Fault{Fault: "reset"}, []outside.Record{trip(1100, 1101, 1102), later}, "none broke"},
		{"a reset", scenarios.Fault{Fault: "reset"}, append(broken, trip(998, 999, 1003), later), ""}, // it had come, and was read late
		{"a reset that lets one through", scenarios.Fault{Fault: "reset"}, append(broken, trip(1100, 1101, 1102), later), "1 messages were answered"},
		{"a void that answers", scenarios.Fault{Fault: "blackhole"}, append(sent, trip(1200, 1201, 1202)), "were answered"},
		{"a held request that arrives", scenarios.Fault{Fault: "hold-request"}, append(sent, trip(1200, 1201, 1550)), "before the heal"},
		{"a held request that is lost", scenarios.Fault{Fault: "hold-request"}, append(sent, later), "0 answered"},
		{"a held answer whose request is held", scenarios.Fault{Fault: "hold-answer"}, append(sent, trip(1200, 1550, 1551)), "none reached"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &seen{strikes: []*strike{struck(test.fault, "node")}, records: map[string][]outside.Record{"node": test.records}}
			var why []string
			for _, r := range s.judge() {
				if r.State == Disagrees && !strings.Contains(r.Fault, "full disk") {
					why = append(why, r.Why)
				}
			}
			if got := strings.Join(why, "; "); (test.want == "") != (got == "") || !strings.Contains(got, test.want) {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// A victim that was not seen before a fault shows nothing of it; one that is not seen again did not get over it.
func TestNotSeenAround(t *testing.T) {
	stands := func(at ...int64) (all []outside.Record) {
		for _, name := range relatives {
			all = append(all, told(name, outside.Beat, at...)...)
			all = append(all, outside.Record{Who: name, What: outside.Gap, From: 999 * milli, At: 1501 * milli})
		}
		return all
	}
	without := func(who string, after int64, all []outside.Record) []outside.Record {
		return slices.DeleteFunc(all, func(r outside.Record) bool { return r.Who == who && (r.At > 1000*milli) == (after > 0) })
	}
	for name, test := range map[string]struct {
		records []outside.Record
		state   State
		why     string
	}{
		"all were":                 {stands(900, 1600), Agrees, ""},
		"one was not seen before":  {without("daemon", 0, stands(900, 1600)), Unmeasured, "daemon was not seen before"},
		"one was not seen again":   {without("daemon", 1, stands(900, 1600)), Disagrees, "daemon was not seen after"},
		"nor before, but in it":    {append(without("daemon", 0, stands(900, 1600)), told("daemon", outside.Beat, 1250)...), Disagrees, "daemon ran"},
		"neither before nor after": {slices.DeleteFunc(stands(900, 1600), func(r outside.Record) bool { return r.Who == "daemon" }), Disagrees, "daemon was not seen after"},
	} {
		s := &seen{strikes: []*strike{struck(scenarios.Fault{Fault: "pause"}, "node")}, records: map[string][]outside.Record{"node": test.records}}
		if r := s.judge()[0]; r.State != test.state || !strings.Contains(r.Why, test.why) {
			t.Errorf("%s: %s (%s), want %s (%s)", name, r.State, r.Why, test.state, test.why)
		}
	}
}

// A pause must have been in force for as long as its proof says, where that is less than was asked for: programs of a
// busy machine stop late. A history that does not say it is held to what was asked for.
func TestPausesAreAsLongAsProven(t *testing.T) {
	k := struck(scenarios.Fault{Fault: "pause"}, "node")
	for lasted, want := range map[int64]int64{0: 1000 * milli, 400 * milli: 1100 * milli, 600 * milli: 1000 * milli} {
		k.lasted = lasted
		if from, to := k.window(); from != want || to != 1500*milli {
			t.Errorf("proven for %d ms: from %d to %d ms", lasted/milli, from/milli, to/milli)
		}
	}
}

// All processes of a node that lived through its pause were looked at, and each stood; what had ended before is not asked for.
func TestWatched(t *testing.T) {
	at := func(pid string, stopped int, times ...int64) (all []sample) {
		for _, t := range times {
			all = append(all, sample{before: t * milli, at: t*milli + 1, pid: pid, node: "n", threads: 2, stopped: stopped})
		}
		return all
	}
	lives := func(pid string) []sample {
		return slices.Concat(at(pid, 0, 900), at(pid, 2, 1100, 1300), at(pid, 0, 1600))
	}
	three := slices.Concat(lives("1"), lives("2"), lives("3"))
	for name, test := range map[string]struct {
		stood []sample
		state State
		why   string
	}{
		"all stood":                  {three, Agrees, ""},
		"one had ended before":       {append(at("4", 0, 800, 900), three...), Agrees, ""},
		"one came after":             {append(three[:len(three):len(three)], at("4", 0, 1600, 1700)...), Agrees, ""},
		"one was not looked at":      {append(at("4", 0, 900, 1600), three...), Unmeasured, "3 of 4"},
		"a thread of one ran":        {append(at("4", 1, 900, 1200, 1600), three...), Disagrees, "1 of 7 looks"},
		"none stood":                 {at("1", 0, 900, 1100, 1600), Disagrees, "no process of any node stood"},
		"nobody looked in the pause": {at("1", 0, 900, 1600), Unmeasured, "too busy"},
		"none is visible":            {nil, Unmeasured, "visible"},
	} {
		slices.SortStableFunc(test.stood, func(a, b sample) int { return int(a.at - b.at) })
		s := &seen{stood: test.stood}
		if r := s.watched(struck(scenarios.Fault{Fault: "pause"}, "n")); r.State != test.state || !strings.Contains(r.Why, test.why) {
			t.Errorf("%s: %v, %q", name, r.State, r.Why)
		}
	}
}

// What disagrees in a run whose machine stood still is not measured, and what agrees stays.
func TestStoodStill(t *testing.T) {
	for stall, want := range map[time.Duration]State{0: Disagrees, stoodStill: Disagrees, stoodStill + 1: Unmeasured} {
		rows := []Row{{State: Disagrees, Why: "1 arrived"}, {State: Agrees}}
		missed := still(rows, stall)
		if rows[0].State != want || rows[1].State != Agrees || (missed != "") != (want == Unmeasured) || missed != "" && rows[0].Why != missed {
			t.Errorf("%v: %+v, %q", stall, rows, missed)
		}
	}
}

// A packet that comes through a cut, and a connection that flows later than the judge allows for, are seen.
func TestPartitionDisagrees(t *testing.T) {
	of := func(what string, at ...int64) (all []outside.Record) {
		for _, r := range told("net", what, at...) {
			r.Peer, r.From = "b", r.At
			all = append(all, r)
		}
		return all
	}
	late := of(outside.UDP, 900, 1003, 1600) // one had come before the cut, and was read late
	late[1].From -= 4 * milli
	for name, test := range map[string]struct {
		in   []outside.Record // at a, from b
		want string
	}{
		"read late": {append(late, of(outside.TCP, 900, 2400)...), ""},
		"none":      {append(of(outside.UDP, 900, 1600), of(outside.TCP, 900, 2400)...), ""},
		"a hole":    {append(of(outside.UDP, 900, 1200, 1600), of(outside.TCP, 900, 2400)...), "1 arrived"},
		"late":      {append(of(outside.UDP, 900, 1600), of(outside.TCP, 900, 9000)...), "the aftermath lasts"},
	} {
		k := struck(scenarios.Fault{Fault: "partition"}, "a")
		k.cut = []string{"b"}
		back := of(outside.Connect, 900, 1600)
		for i := range back {
			back[i].Peer = "a"
		}
		s := &seen{strikes: []*strike{k}, records: map[string][]outside.Record{"a": append(test.in, of(outside.Connect, 900, 1600)...), "b": back}}
		var why []string
		for _, r := range s.judge() {
			if r.State == Disagrees {
				why = append(why, r.Why)
			}
		}
		if got := strings.Join(why, "; "); (test.want == "") != (got == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// Of a fault that its own proof has missed nothing is known, and the worst of several runs is shown.
func TestTally(t *testing.T) {
	k := struck(scenarios.Fault{Fault: "pause"}, "node")
	k.seen = false
	if rows := (&seen{strikes: []*strike{k}}).judge(); len(rows) != 1 || rows[0].State != Unmeasured {
		t.Errorf("%+v", rows)
	}
	killed := func(state State, measured string) Row {
		return Row{Kinds: []string{"kill"}, Fault: "kill x", What: "a", State: state, Measured: measured}
	}
	lines := Tally([]Row{killed(Agrees, "1"), killed(Disagrees, "2"), killed(Unmeasured, "")})
	if len(lines) != 1 || lines[0].Agreed != 1 || lines[0].Runs != 2 || lines[0].Missed != 1 || lines[0].Measured != "2" {
		t.Errorf("%+v", lines)
	}
	broken := BrokenOf(lines)
	if len(broken) != 1 || broken[0].Fault != "kill" || len(broken[0].Scenarios) == 0 {
		t.Errorf("%+v", broken)
	}
	if text := Markdown(lines); !strings.Contains(text, "1 of 2") {
		t.Error(text)
	}
}

// Every kind of fault that there is, is measured.
func TestEveryKind(t *testing.T) {
	var all []string
	for _, name := range append(append([]string{}, Short...), Long...) {
		kinds, err := Kinds(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, kinds...)
	}
	for _, k := range kindNames() {
		if !strings.Contains(" "+strings.Join(all, " ")+" ", " "+k+" ") {
			t.Errorf("%s is measured by no scenario", k)
		}
	}
}

func kindNames() (names []string) {
	for _, k := range history.FaultKinds {
		names = append(names, k.Name)
	}
	return names
}
