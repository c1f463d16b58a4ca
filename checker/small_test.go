package checker

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// Small parts that many properties rest on, at their limits.

func TestSpans(t *testing.T) {
	for _, c := range []struct{ spans, want []trace.Span }{
		{nil, nil},
		{[]trace.Span{{From: 5, To: 9}, {From: 1, To: 2}}, []trace.Span{{From: 1, To: 2}, {From: 5, To: 9}}},
		{[]trace.Span{{From: 3, To: 5}, {From: 1, To: 3}}, []trace.Span{{From: 1, To: 5}}},
		{[]trace.Span{{From: 1, To: 9}, {From: 2, To: 3}, {From: 4, To: 11}}, []trace.Span{{From: 1, To: 11}}},
	} {
		if got := trace.Union(c.spans); fmt.Sprint(got) != fmt.Sprint(append([]trace.Span{}, c.want...)) {
			t.Errorf("%v: %v, want %v", c.spans, got, c.want)
		}
	}
	spans := []trace.Span{{From: 10, To: 20}, {From: 30, To: 40}}
	for _, c := range []struct {
		from, to int64
		want     bool
	}{{1, 9, false}, {1, 10, true}, {20, 25, true}, {21, 29, false}, {21, 30, true}, {12, 13, true}, {40, 50, true}, {41, 50, false}} {
		if trace.Meets(spans, c.from, c.to) != c.want {
			t.Errorf("[%d, %d]: not %v", c.from, c.to, c.want)
		}
	}
	if after(5, 3) != 8 || after(trace.Forever, 3) != trace.Forever || after(trace.Forever-3, 3) != trace.Forever || after(trace.Forever-4, 3) != trace.Forever-1 {
		t.Error("times that are added to")
	}
}

// What ends a client is a kill that came, after it.
func TestDeathAfter(t *testing.T) {
	kill := func(begin int, from int64, target string, missed bool) *trace.Fault {
		return &trace.Fault{Kind: "kill", Target: target, Begin: begin, From: from, Missed: missed}
	}
	r := &run{Trace: &trace.Trace{Faults: []*trace.Fault{kill(3, 10, "a", false), kill(0, 5, "b", false), kill(-1, 5, "a", false), kill(4, 6, "a", true),
		{Kind: "pause", Target: "a", Begin: 5, From: 7}, kill(9, 20, "a", false)}}}
	for _, c := range []struct {
		node string
		at   int64
		want int64
	}{{"a", 1, 10}, {"a", 10, 10}, {"a", 11, 20}, {"a", 21, trace.Forever}, {"b", 1, 5}, {"c", 1, trace.Forever}} {
		got := int64(trace.Forever)
		if death := r.deathAfter(c.node, c.at); death != nil {
			got = death.From
		}
		if got != c.want {
			t.Errorf("%s after %d: %d, want %d", c.node, c.at, got, c.want)
		}
	}
}

func TestAnswers(t *testing.T) {
	leased, unleased := history.Setup{Promise: history.Promise{Leased: true, Token: true}}, history.Setup{}
	of := func(p ...Property) *Result { return &Result{Properties: p} }
	late := func(p Property) *Result { return &Result{Properties: []Property{p}, Counts: Counts{StaleWrites: 1}} }
	says := func(name string, v Verdict) Property { return Property{Name: name, Verdict: v, Reason: "It is so."} }
	for _, c := range []struct {
		got     answer
		verdict Verdict
		text    string
	}{
		{answerService(leased, of()), NA, "Not asked: the lock promises nothing that was judged."},
		{answerService(leased, of(says("mutual-exclusion", Violated))), NA, "Not asked"},
		{answerService(unleased, of(says("mutual-exclusion", Violated))), Violated, "No: it is so (mutual-exclusion)."},
		{answerService(leased, of(says("recovery", Unknown), says("fairness", Holds))), Unknown, "Not decided: it is so (recovery)."},
		{answerService(leased, of(says("fairness", Holds))), Holds, "Yes: the service kept its promise in 0 grants."},
		{answerData(leased, of(), false), Unknown, "Not decided: nothing was judged."},
		{answerData(leased, of(says("no-lost-update/fenced", Holds)), false), Unknown, "Not decided: nothing was judged."},
		{answerData(leased, of(says("no-lost-update/unfenced", Holds)), true), Unknown, "Not decided: nothing was judged."},
		{answerData(unleased, of(says("no-lost-update/unfenced", Unknown)), false), Unknown, "Not decided: it is so (no-lost-update/unfenced)."},
		{answerData(unleased, late(says("no-lost-update/unfenced", Violated)), false), Violated, "No: it is so; this lock gives no token that could have stopped it (no"},
		{answerData(unleased, of(says("no-lost-update/unfenced", Violated)), false), Violated, "No: it is so (no-lost-update/unfenced)."},
		{answerData(unleased, of(says("no-lost-update/unfenced", Holds)), false), Holds, "Yes: it is so."},
		{answerData(unleased, of(says("no-lost-update/fenced", NA)), true), NA, "Not asked: it is so."},
		{answerData(leased, of(says("no-lost-update/fenced", Violated)), true), Violated, "No: it is so, in spite of the fence (no-lost-update/fenced)."},
		{answerData(leased, of(says("fenced-writes", Violated), says("no-lost-update/fenced", Holds)), true), Violated, "No: it is so (fenced-writes)."},
		{answerWork(of(says("deadlock-freedom", Violated), says("availability", Holds))), Violated, "No: it is so (deadlock-freedom)."},
		{answerWork(of(says("no-deadlock", Unknown), says("availability", Holds))), Unknown, "Not decided: it is so (no-deadlock)."},
	} {
		if c.got.Verdict != c.verdict || !strings.HasPrefix(c.got.sentence, c.text) {
			t.Errorf("%+v, want %s: %s", c.got, c.verdict, c.text)
		}
	}
	if lower("") != "" || lower("A b.") != "a b" {
		t.Error("lower")
	}
}

// A checker that panics says unknown, and a judge that does has no green to give.
func TestJudgeThatFails(t *testing.T) {
	setup, ops := realistic(1000, 5, 1, 0, 0, 1)
	good := Judge(setup, ops)
	if good.Verdict != Holds || len(good.Doubts) > 0 {
		t.Fatalf("%s: %v", good.Verdict, good.Doubts)
	}
	old := Checkers
	defer func() { Checkers = old }()
	broken := Checker{Name: old[0].Name, check: func(*run) outcome { panic("a slip") }}
	Checkers = append([]Checker{broken}, old[1:]...)
	got := Judge(setup, ops)
	if p := got.Properties[0]; got.Verdict != Unknown || p.Verdict != Unknown || !strings.Contains(p.Reason, "a bug of dlmtest: a slip") {
		t.Errorf("%s, %+v", got.Verdict, p)
	}
	for i, p := range got.Properties[1:] {
		if p.Verdict != good.Properties[i+1].Verdict {
			t.Errorf("%s is %s beside a checker that fails", p.Name, p.Verdict)
		}
	}
	never := func(history.Setup) (bool, string) { return false, "Not here." }
	Checkers = []Checker{{Name: "nothing", promised: never}}
	if got := Judge(setup, ops); got.Verdict != Unknown || got.Properties[0].Verdict != NA {
		t.Errorf("nothing was asked: %+v", got)
	}
}

// Of a part of a history only what it shows is asked.
func TestJudgeOfAPart(t *testing.T) {
	b := newBuilder()
	turns(b)
	setup, ops := b.done()
	setup.Shows = "fencing-monotonic"
	got := Judge(setup, ops)
	for _, p := range got.Properties {
		if asked := p.Name == setup.Shows; (p.Verdict == NA) == asked || (p.Reason == notAsked) == asked {
			t.Errorf("%s is %s: %s", p.Name, p.Verdict, p.Reason)
		}
	}
	if got.Answers != Skipped() || got.Sentences.Promise != notAsked {
		t.Errorf("answers %+v, %+v", got.Answers, got.Sentences)
	}
}

// A fault of a random schedule that was skipped is none, unless another victim met it.
func TestSkippedFaultsAreCountedApart(t *testing.T) {
	r := &run{Trace: &trace.Trace{Faults: []*trace.Fault{{ID: 1, Observed: true}, {ID: 2, Skipped: true}, {ID: 3, Skipped: true}, {ID: 3, Observed: true},
		{ID: 4, Observed: true, Missed: true}, {ID: 5, Observed: true}, {ID: 5}, {ID: 6}, {ID: 6, Observed: true}, {ID: 7, Observed: true}, {ID: 7, Observed: true}, {ID: 8, Skipped: true}}}}
	r.count()
	if c := r.counts; c.Faults != 6 || c.FaultsSeen != 3 || c.FaultsSkipped != 2 {
		t.Errorf("%+v", c)
	}
}

// Whether another was granted the lock before or after is not always certain: then
// what a client was told is only possibly wrong.
func TestPossiblyDishonest(t *testing.T) {
	for _, c := range []struct {
		name    string
		extend  int64 // when client-1 asks
		release bool  // client-2 has given it back by then
		want    int
	}{{"after the other's answer", 300 * ms, false, 1}, {"before it", 110 * ms, false, 0}, {"at the same time", 150 * ms, false, 0}, {"given back", 300 * ms, true, 1}} {
		b := newBuilder()
		b.setup.Promise.Token = false
		one := b.grantOf(0, 100*ms, "client-1", 0)
		two := b.grantOf(50*ms, 150*ms, "client-2", 0)
		b.sent(two, 60*ms)
		if c.release {
			b.does(200*ms, two, history.Release, history.OK)
		}
		b.does(c.extend, one, history.Extend, history.OK)
		setup, ops := b.done()
		p := (&Result{Properties: Judge(setup, ops).Properties}).Property("honest-claims")
		if len(p.Violations) != c.want || c.want > 0 && (!p.Violations[0].Possible || !strings.Contains(p.Violations[0].Message, "client-2 may have been granted it before that") && !strings.Contains(p.Violations[0].Message, "in either order")) {
			t.Errorf("%s: %s, %+v", c.name, p.Verdict, p.Violations)
		}
	}
}

// Waits that follow each other closely are one, told by few of them.
func TestJoinedWaits(t *testing.T) {
	r := &run{Trace: &trace.Trace{Setup: history.Setup{Lease: 40}}} // so 10 apart
	w := func(n int, from, to int64) trace.Wait {
		return trace.Wait{Invoke: 2 * n, Done: 2*n + 1, From: from, To: to}
	}
	for _, c := range []struct {
		waits []trace.Wait
		want  string
	}{
		{nil, ""},
		{[]trace.Wait{w(0, 0, 10), w(1, 20, 30)}, "[0 30] 0 2"},
		{[]trace.Wait{w(0, 0, 10), w(1, 21, 30)}, "[0 10] 0; [21 30] 2"},
		{[]trace.Wait{w(0, 0, 10), w(1, 0, 30)}, "[0 30] 2"},
		{[]trace.Wait{w(0, 0, 10), w(1, 5, 20), w(2, 12, 30)}, "[0 30] 0 4"},
		{[]trace.Wait{w(0, 0, 10), w(1, 15, 20), w(2, 20, 30)}, "[0 30] 0 4"},
		{[]trace.Wait{w(0, 0, 10), w(1, 15, 20), w(2, 21, 30)}, "[0 30] 0 2 4"},
		{[]trace.Wait{w(0, 0, 30), w(1, 5, 20)}, "[0 30] 0"},
		{[]trace.Wait{w(0, 0, 30), w(1, 5, 30)}, "[0 30] 0"},
		{[]trace.Wait{w(0, -9, 30), w(1, 90, 120)}, "[0 30] 0; [90 100] 2"},
		{[]trace.Wait{w(0, -9, 0), w(1, 100, 120)}, ""},
	} {
		var told []string
		for _, s := range r.joined(c.waits, 0, 100, 0) {
			text := fmt.Sprint([]int64{s.from, s.to})
			for _, w := range s.waits {
				text += fmt.Sprint(" ", w.Invoke)
			}
			told = append(told, text)
		}
		if got := strings.Join(told, "; "); got != c.want {
			t.Errorf("%v: %q, want %q", c.waits, got, c.want)
		}
	}
	s := stretch{waits: []trace.Wait{w(0, 0, 10), w(1, 5, 15), w(2, 20, 30), w(3, 0, 40)}}
	if got := fmt.Sprint(s.within(10, 20)); got != "[2 3 6 7]" {
		t.Errorf("within: %s", got)
	}
}

func TestDryTimes(t *testing.T) {
	k := &keyLog{Key: &trace.Key{Grants: []*trace.Grant{{OK: 10}, {OK: 30}}}}
	for _, c := range [][4]int64{{0, 100, 30, 100}, {0, 40, 10, 30}, {10, 20, 10, 20}, {0, 20, 0, 10}, {30, 35, 30, 35}, {5, 5, 5, 5}} {
		if from, to := k.dry(c[0], c[1]); from != c[2] || to != c[3] {
			t.Errorf("%v: [%d, %d]", c, from, to)
		}
	}
}

// A key must be granted within two leases and 3 s of the first acquire after all was
// healed, if somebody asks for it that long.
func TestFinalAcquireAtItsLimits(t *testing.T) {
	for _, c := range []struct {
		name string
		ask  func(*builder)
		want Verdict
	}{
		{"granted in time", func(b *builder) { b.grant(9*sec, 14*sec, "final", "k", 9) }, Holds},
		{"granted late", func(b *builder) { b.grant(9*sec, 14*sec+1, "final", "k", 9) }, Violated},
		{"by another", func(b *builder) { b.refused(9*sec, 12*sec); b.grant(10*sec, 13*sec, "final", "k", 9) }, Holds},
		{"asked to the limit", func(b *builder) { b.refused(9*sec, 14*sec) }, Unknown},
		{"asked for longer", func(b *builder) { b.refused(9*sec, 14*sec+1) }, Violated},
		{"given up, and the run goes on", func(b *builder) { b.refused(9*sec, 10*sec); b.stall(30*sec, "client-1", 1) }, Unknown},
		{"given up, and asked for much later", func(b *builder) { b.refused(9*sec, 10*sec); b.grant(20*sec, 20*sec+ms, "final", "k", 9) }, Unknown},
		{"asked for again and again", func(b *builder) { b.retries(9*sec, 15*sec) }, Violated},
		{"still asked for when the run ends", func(b *builder) {
			b.op(9*sec, "client-1", history.Invoke, history.Acquire, "k")
			b.stall(14*sec+1, "client-2", 1)
		}, Violated},
		{"still asked for when the run ends soon", func(b *builder) {
			b.op(9*sec, "client-1", history.Invoke, history.Acquire, "k")
			b.stall(14*sec, "client-2", 1)
		}, Unknown},
		{"kept without a lease by who gave nothing back", func(b *builder) {
			b.setup.Promise.Leased = false
			b.grantOf(8*sec, 8*sec+ms, "client-2", 2)
			b.refused(9*sec, 15*sec)
		}, Violated},
		{"nobody asks", func(*builder) {}, Unknown},
		{"asked at the very end", func(b *builder) { b.op(9*sec, "client-1", history.Invoke, history.Acquire, "k") }, Unknown},
	} {
		b := newBuilder()
		b.session1(0, "client-1", 1)
		b.op(9*sec, "runner", history.Note, history.Final, "")
		c.ask(b)
		b.setup.Keys = []string{"k"}
		r := newRun(b.done())
		if p := deadlockFreedom(r).property("deadlock-freedom"); p.Verdict != c.want {
			t.Errorf("%s: %s: %s", c.name, p.Verdict, p.Reason)
		}
	}
}

// Who acts on an acquire with an unknown outcome possibly clashes with each who was
// granted the key before that act and believed beyond the answer that never told.
func TestGhostsAtTheirLimits(t *testing.T) {
	for _, c := range []struct {
		name   string
		grants [][2]int64 // granted, ends
		want   int
	}{
		{"meets it", [][2]int64{{3, 9}}, 1},
		{"granted just before the act", [][2]int64{{7, 9}}, 1},
		{"granted at the act", [][2]int64{{8, 9}}, 0},
		{"given back by the answer", [][2]int64{{3, 5}}, 0},
		{"given back after it", [][2]int64{{3, 6}}, 1},
		{"behind one that was given back", [][2]int64{{2, 9}, {3, 4}}, 1},
		{"both given back by the answer", [][2]int64{{2, 5}, {3, 4}}, 0},
		{"one too early, one too late", [][2]int64{{2, 5}, {8, 9}}, 0},
		{"nobody", nil, 0},
	} {
		r := &run{Trace: &trace.Trace{Ops: []history.Op{{Time: 5, Node: "g"}, {Time: 8, Node: "g"}}}}
		k := &keyLog{Key: &trace.Key{Name: "k", Ghosts: []trace.Ghost{{Owner: "g", Info: 0, Act: 1}}}}
		for _, g := range c.grants {
			r.Ops = append(r.Ops, history.Op{Time: g[0], Node: "h"})
			k.Grants = append(k.Grants, &trace.Grant{Op: len(r.Ops) - 1, OK: g[0], End: g[1]})
		}
		var f found
		if r.judgeGhosts(k, &f); f.possible != c.want || f.certain != 0 {
			t.Errorf("%s: %+v", c.name, f)
		}
	}
}
