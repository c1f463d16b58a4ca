package checker

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// How single operations and notes are filed.

func fault1(id int, target string, phase history.Phase) *history.FaultNote {
	return &history.FaultNote{ID: id, Kind: "pause", Target: target, Phase: phase}
}

// A fault that begins again after its end is another one, the first of all included;
// one that was looked for before it began is the same.
func TestFaultsAreFiled(t *testing.T) {
	for _, c := range []struct {
		phases  []history.Phase
		want    string // begin, from, to, observed, missed and skipped of each
		skipped int
	}{
		{[]history.Phase{history.Begin, history.Observed, history.Heal}, "0 1 3 true false false;", 0},
		{[]history.Phase{history.Begin, history.Heal, history.Begin, history.Heal}, "0 1 2 false false false;2 3 4 false false false;", 0},
		{[]history.Phase{history.Missed, history.Begin, history.Heal}, "1 2 3 false true false;", 0},
		{[]history.Phase{history.Begin, history.Missed, history.Heal}, "0 1 3 false true false;", 0},
		{[]history.Phase{history.Begin, history.Failed}, "0 1 2 false false false;", 0},
		{[]history.Phase{history.Skipped}, "", 1},
		{[]history.Phase{history.Begin, history.Heal, history.Skipped}, "0 1 2 false false true;", 1},
		{nil, "", 0},
	} {
		var ops []history.Op
		for i, phase := range c.phases {
			ops = append(ops, history.Op{Index: i, Time: int64(i + 1), Type: history.Note, F: history.Fault, Fault: fault1(1, "c", phase)})
		}
		r, got := newRun(history.Setup{}, ops), ""
		for _, f := range slices.Concat(r.Faults, r.idle) {
			got += fmt.Sprint(f.Begin, " ", f.From, " ", f.To, " ", f.Observed, " ", f.Missed, " ", f.Skipped, ";")
		}
		if got != c.want || r.counts.FaultsSkipped != c.skipped {
			t.Errorf("%v: %s, %d skipped", c.phases, got, r.counts.FaultsSkipped)
		}
	}
}

// Who was never heard of after its deadline died with its grant; any word of it
// counts, and at the deadline itself none is needed.
func TestBeliefsEnd(t *testing.T) {
	extend := func(from, to int64) func(*builder, *held) { // by another process than the one that was granted it
		return func(b *builder, h *held) {
			first := b.process["client-1"]
			b.process["client-1"] = 99
			b.op(from, h.node, history.Invoke, history.Extend, "k").Owner = h.owner
			if to > 0 {
				b.op(to, h.node, history.Info, history.Extend, "k").Owner = h.owner
			}
			b.process["client-1"] = first
		}
	}
	read := func(from, to int64) func(*builder, *held) { // of no grant
		return func(b *builder, h *held) {
			b.op(from, h.node, history.Invoke, history.Read, "k")
			b.op(to, h.node, history.OK, history.Read, "k")
		}
	}
	for _, c := range []struct {
		name  string
		says  func(*builder, *held)
		bent  bool // its clock: then the lease counts, from the request on
		lasts bool
	}{
		{"nothing", func(*builder, *held) {}, false, false},
		{"nothing, by a clock that is bent", func(*builder, *held) {}, true, false},
		{"a word at the deadline", extend(sec, 0), false, false},
		{"a word after it", extend(sec+1, 0), false, true},
		{"an answer at the deadline", extend(sec-ms, sec), false, false},
		{"an answer after it", extend(sec-ms, sec+1), false, true},
		{"another answer at the deadline", read(sec-ms, sec), false, false},
		{"another answer after it", read(sec-ms, sec+1), false, true},
	} {
		b := newBuilder()
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.sent(h, 0)
		b.claimMore("client-1", 10*ms, -9*ms) // so until 1 s
		c.says(b, h)
		if c.bent {
			b.op(500*ms, "client-1", history.Invoke, history.Read, "k").Mono += 9 * sec
		}
		want := origin + sec
		if c.lasts {
			want = trace.Forever
		}
		if got := newRun(b.done()).Grants[0].End; got != want {
			t.Errorf("%s: until %d, want %d", c.name, got-origin, want-origin)
		}
	}
}

// Who acts on an acquire of which it knows no outcome is one ghost, however often it
// acts, and whoever of both wrote its name down.
func TestGhostsAreFiled(t *testing.T) {
	for _, named := range []string{"invoke", "info", "nobody"} {
		b := newBuilder()
		invoke := b.op(0, "client-1", history.Invoke, history.Acquire, "k")
		if named == "invoke" {
			invoke.Owner = "g"
		}
		info := b.op(ms, "client-1", history.Info, history.Acquire, "k")
		want := 1
		switch named {
		case "info":
			info.Owner = "g"
		case "nobody":
			want = 0
		}
		h := &held{node: "client-1", key: "k", owner: "g"}
		if named == "nobody" {
			h.owner = ""
		}
		b.write(2*ms, h)
		b.write(3*ms, h)
		r := newRun(b.done())
		got := r.ByKey["k"].Ghosts
		if len(got) != want || want > 0 && (r.Ops[got[0].Act].Time != origin+3*ms || r.Ops[got[0].Info].Time != origin+ms) {
			t.Errorf("named by its %s: %+v", named, got)
		}
	}
}

// To be told that it holds the lock is an act of a ghost, to be told that it does not is none.
func TestGhostsRenew(t *testing.T) {
	for said, want := range map[history.Type]int{history.OK: 1, history.Fail: 0, history.Info: 0} { // told ok, it holds the key
		b := newBuilder()
		b.op(0, "client-1", history.Invoke, history.Acquire, "k").Owner = "g"
		b.op(ms, "client-1", history.Info, history.Acquire, "k")
		b.does(2*ms, &held{node: "client-1", key: "k", owner: "g"}, history.Extend, said)
		r := newRun(b.done())
		if got := r.Grants; len(got) != want || len(r.named("k").Ghosts) > 0 {
			t.Errorf("told %s: %+v", said, got)
		}
	}
}

// A value of which only the resource knows is one write, which the first note files;
// the first of two notes that all is healed counts.
func TestFirstNotesCount(t *testing.T) {
	apply := history.Op{Type: history.Note, F: history.Apply, Key: "k", Value: "v", Unfenced: &history.Copy{}}
	final := history.Op{Type: history.Note, F: history.Final}
	r := newRun(history.Setup{}, []history.Op{final, apply, apply, final})
	if len(r.Writes) != 1 || r.Writes[0].Apply != 1 || r.Writes[0].Invoke != -1 || r.Final != 0 {
		t.Errorf("%+v, final %d", r.Writes, r.Final)
	}
	r = newRun(history.Setup{}, []history.Op{apply, final, apply, final})
	if len(r.Writes) != 1 || r.Writes[0].Apply != 0 || r.Final != 1 {
		t.Errorf("%+v, final %d", r.Writes, r.Final)
	}
}

// A stall beside a fault that stops programs is its work, where they meet; so is
// none that is short. Of whom no clients are known, nobody is a server.
func TestStallsAreFiled(t *testing.T) {
	type span struct {
		kind     string
		from, to int64 // 0: it never began
	}
	for _, c := range []struct {
		name     string
		fault    span
		from, to int64
		want     bool
	}{
		{"alone", span{"pause", 90, 99}, 20, 31, true},
		{"short", span{"pause", 90, 99}, 20, 30, false},
		{"in a fault", span{"pause", 10, 50}, 20, 31, false},
		{"in one that stops nothing", span{"clock", 10, 50}, 20, 31, true},
		{"as it begins", span{"pause", 31, 50}, 20, 31, true},
		{"long before it begins", span{"pause", 31, 50}, 20, 45, true},
		{"shortly before it begins", span{"pause", 30, 50}, 20, 45, false},
		{"just before", span{"pause", 32, 50}, 20, 31, true},
		{"as it ends", span{"pause", 10, 20}, 20, 31, false},
		{"just after", span{"pause", 10, 19}, 20, 31, true},
		{"in one that never began", span{"pause", 10, 0}, 20, 31, true},
	} {
		for _, clients := range [][]string{nil, {"c"}, {"d"}} {
			phase := func(at int64, p history.Phase) history.Op {
				return history.Op{Time: at, Type: history.Note, F: history.Fault, Fault: &history.FaultNote{ID: 1, Kind: c.fault.kind, Target: "c", Phase: p}}
			}
			ops := []history.Op{{Time: c.to, Type: history.Note, F: history.Stall, Node: "c", Length: c.to - c.from}}
			if ops = append(ops, phase(c.fault.from, history.Begin), phase(c.fault.to, history.Heal)); c.fault.to == 0 {
				ops = append(ops[:1], phase(c.fault.from, history.Observed))
			}
			slices.SortStableFunc(ops, func(a, b history.Op) int { return cmp.Compare(a.Time, b.Time) })
			r := newRun(history.Setup{Lease: 80, Clients: clients}, ops)
			if (len(r.stalls) > 0) != c.want {
				t.Errorf("%s: %+v", c.name, r.stalls)
			}
			if server := len(clients) > 0 && clients[0] == "d"; c.want && r.stalls[0].Server != server {
				t.Errorf("%s, with clients %v: %+v", c.name, clients, r.stalls)
			}
		}
	}
}
