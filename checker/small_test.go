package checker

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/history"
)

// Small parts that many properties rest on, at their limits.

func TestSpans(t *testing.T) {
	for _, c := range []struct{ spans, want []span }{
		{nil, nil},
		{[]span{{from: 5, to: 9}, {from: 1, to: 2}}, []span{{from: 1, to: 2}, {from: 5, to: 9}}},
		{[]span{{from: 3, to: 5}, {from: 1, to: 3}}, []span{{from: 1, to: 5}}},
		{[]span{{from: 1, to: 9}, {from: 2, to: 3}, {from: 4, to: 11}}, []span{{from: 1, to: 11}}},
	} {
		if got := union(c.spans); fmt.Sprint(got) != fmt.Sprint(append([]span{}, c.want...)) {
			t.Errorf("%v: %v, want %v", c.spans, got, c.want)
		}
	}
	spans := []span{{from: 10, to: 20}, {from: 30, to: 40}}
	for _, c := range []struct {
		from, to int64
		want     bool
	}{{1, 9, false}, {1, 10, true}, {20, 25, true}, {21, 29, false}, {21, 30, true}, {12, 13, true}, {40, 50, true}, {41, 50, false}} {
		if meets(spans, c.from, c.to) != c.want {
			t.Errorf("[%d, %d]: not %v", c.from, c.to, c.want)
		}
	}
	if after(5, 3) != 8 || after(forever, 3) != forever || after(forever-3, 3) != forever || after(forever-4, 3) != forever-1 {
		t.Error("times that are added to")
	}
}

// What ends a client is a kill that came, after it.
func TestDeathAfter(t *testing.T) {
	kill := func(begin int, from int64, target string, missed bool) *fault {
		return &fault{kind: "kill", target: target, begin: begin, from: from, missed: missed}
	}
	r := &run{faults: []*fault{kill(3, 10, "a", false), kill(0, 5, "b", false), kill(-1, 5, "a", false), kill(4, 6, "a", true),
		{kind: "pause", target: "a", begin: 5, from: 7}, kill(9, 20, "a", false)}}
	for _, c := range []struct {
		node string
		at   int64
		want int64
	}{{"a", 1, 10}, {"a", 10, 10}, {"a", 11, 20}, {"a", 21, forever}, {"b", 1, 5}, {"c", 1, forever}} {
		got := int64(forever)
		if death := r.deathAfter(c.node, c.at); death != nil {
			got = death.from
		}
		if got != c.want {
			t.Errorf("%s after %d: %d, want %d", c.node, c.at, got, c.want)
		}
	}
}

func TestAnswers(t *testing.T) {
	leased, unleased := history.Setup{Promise: history.Promise{Leased: true, Token: true}}, history.Setup{}
	of := func(p ...Property) *Result { return &Result{Properties: p} }
	says := func(name string, v Verdict) Property { return Property{Name: name, Verdict: v, Reason: "It is so."} }
	for _, c := range []struct {
		got     Answer
		verdict Verdict
		text    string
	}{
		{answerService(leased, of()), NA, "Not asked: the lock promises nothing that was judged."},
		{answerService(leased, of(says("mutual-exclusion", Violated))), NA, "Not asked"},
		{answerService(unleased, of(says("mutual-exclusion", Violated))), Violated, "No: it is so (mutual-exclusion)."},
		{answerService(leased, of(says("recovery", Unknown), says("fairness", Holds))), Unknown, "Not decided: it is so (recovery)."},
		{answerService(leased, of(says("fairness", Holds))), Holds, "Yes: the service kept its promise in 0 grants."},
		{answerData(leased, of()), Unknown, "Not decided: nothing was judged."},
		{answerData(leased, of(says("no-lost-update/fenced", Holds))), Unknown, "Not decided: nothing was judged."},
		{answerData(leased, of(says("no-lost-update/unfenced", Holds))), Unknown, "Not decided: nothing was judged."},
		{answerData(unleased, of(says("no-lost-update/unfenced", Unknown))), Unknown, "Not decided: it is so."},
		{answerData(unleased, of(says("no-lost-update/unfenced", Violated))), Violated, "No: it is so, and this lock gives no token"},
		{answerData(unleased, of(says("no-lost-update/unfenced", Holds))), Holds, "Yes: it is so."},
		{answerData(leased, of(says("no-lost-update/unfenced", Violated), says("no-lost-update/fenced", Holds))), Holds, "Yes: fencing saved it: it is so, but it is so."},
		{answerData(leased, of(says("no-lost-update/unfenced", Violated), says("no-lost-update/fenced", Violated))), Violated, "No: it is so, in spite of fencing."},
		{answerData(leased, of(says("no-lost-update/unfenced", Holds), says("no-lost-update/fenced", Holds))), Holds, "Yes: it is so."},
	} {
		if c.got.Verdict != c.verdict || !strings.HasPrefix(c.got.Sentence, c.text) {
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
	broken := Checker{old[0].Name, old[0].About, always, func(*run) outcome { panic("a slip") }, nil}
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
	Checkers = []Checker{{"nothing", "", never, nil, nil}}
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
	if want := (Answer{NA, notAsked}); got.Service != want || got.Data != want {
		t.Errorf("answers %+v, %+v", got.Service, got.Data)
	}
}

// One late reading of a clock says nothing, two in line or one at the end do.
func TestSettledClocks(t *testing.T) {
	for _, c := range []struct {
		offsets  []int64
		missing  bool
		offset   int64
		constant bool
	}{
		{nil, false, 0, false}, {[]int64{5}, false, 5, true}, {[]int64{5}, true, 5, false},
		{[]int64{5, 5 + clockNoise, 5}, false, 5, true}, {[]int64{5, 5 + clockNoise + 1, 5}, false, 5, true},
		{[]int64{5, 6 + clockNoise, 6 + clockNoise, 5}, false, 5, false}, {[]int64{5, 6, 6 + clockNoise}, false, 5, false},
		{[]int64{5, 5 + clockNoise}, false, 5, true}, {[]int64{6 + clockNoise, 5, 5}, false, 5, true},
		{[]int64{5, 5 + clockNoise, 5 + clockNoise, 5}, false, 5, true},
		{[]int64{5, 6 + clockNoise, 5 + clockNoise, 5}, false, 5, true},
		{[]int64{5, 6 + clockNoise, 5, 6 + clockNoise, 5}, false, 5, true},
	} {
		k := &clock{offsets: c.offsets, missing: c.missing}
		if k.settle(); k.offset != c.offset || k.constant != c.constant || !k.settled {
			t.Errorf("%v, missing %v: %+v", c.offsets, c.missing, k)
		}
	}
	r := &run{clocks: map[string]*clock{}}
	r.stamp(&history.Op{Node: "a"})                           // says nothing of a clock
	r.stamp(&history.Op{Node: "b", Mono: 107, Time: 100})     // 7 ahead
	r.stamp(&history.Op{Node: "c", Mono: 107, Time: 100})     //
	r.stamp(&history.Op{Node: "c", Deadline: 200, Time: 100}) // a deadline without the own time
	for node, want := range map[string]bool{"a": false, "b": true, "c": false} {
		if at, ok := r.raw(node, 207); ok != want || ok && at != 200 {
			t.Errorf("%s: %d, %v", node, at, ok)
		}
	}
	if _, ok := r.raw("b", 0); ok {
		t.Error("no deadline was converted")
	}
}

// A fault of a random schedule that was skipped is none, unless another victim met it.
func TestSkippedFaultsAreCountedApart(t *testing.T) {
	r := &run{faults: []*fault{{id: 1, observed: true}, {id: 2, skipped: true}, {id: 3, skipped: true}, {id: 3, observed: true},
		{id: 4, observed: true, missed: true}, {id: 5, observed: true}, {id: 5}, {id: 6}, {id: 6, observed: true}, {id: 7, observed: true}, {id: 7, observed: true}, {id: 8, skipped: true}}}
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
	}{{"after the other's answer", 300 * ms, false, 1}, {"before it", 110 * ms, false, 0}, {"at the same time", 150 * ms, false, 0}, {"given back", 300 * ms, true, 0}} {
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
		if len(p.Violations) != c.want || c.want > 0 && (!p.Violations[0].Possible || !strings.Contains(p.Violations[0].Message, "client-2 may have been granted it before that")) {
			t.Errorf("%s: %s, %+v", c.name, p.Verdict, p.Violations)
		}
	}
}

// Waits that follow each other closely are one, told by few of them.
func TestJoinedWaits(t *testing.T) {
	r := &run{setup: history.Setup{Lease: 40}} // so 10 apart
	w := func(n int, from, to int64) wait { return wait{invoke: 2 * n, done: 2*n + 1, from: from, to: to} }
	for _, c := range []struct {
		waits []wait
		want  string
	}{
		{nil, ""},
		{[]wait{w(0, 0, 10), w(1, 20, 30)}, "[0 30] 0 2"},
		{[]wait{w(0, 0, 10), w(1, 21, 30)}, "[0 10] 0; [21 30] 2"},
		{[]wait{w(0, 0, 10), w(1, 0, 30)}, "[0 30] 2"},
		{[]wait{w(0, 0, 10), w(1, 5, 20), w(2, 12, 30)}, "[0 30] 0 4"},
		{[]wait{w(0, 0, 10), w(1, 15, 20), w(2, 20, 30)}, "[0 30] 0 4"},
		{[]wait{w(0, 0, 10), w(1, 15, 20), w(2, 21, 30)}, "[0 30] 0 2 4"},
		{[]wait{w(0, 0, 30), w(1, 5, 20)}, "[0 30] 0"},
		{[]wait{w(0, 0, 30), w(1, 5, 30)}, "[0 30] 0"},
		{[]wait{w(0, -9, 30), w(1, 90, 120)}, "[0 30] 0; [90 100] 2"},
		{[]wait{w(0, -9, 0), w(1, 100, 120)}, ""},
	} {
		var told []string
		for _, s := range r.joined(c.waits, 0, 100) {
			text := fmt.Sprint([]int64{s.from, s.to})
			for _, w := range s.waits {
				text += fmt.Sprint(" ", w.invoke)
			}
			told = append(told, text)
		}
		if got := strings.Join(told, "; "); got != c.want {
			t.Errorf("%v: %q, want %q", c.waits, got, c.want)
		}
	}
	s := stretch{waits: []wait{w(0, 0, 10), w(1, 5, 15), w(2, 20, 30), w(3, 0, 40)}}
	if got := fmt.Sprint(s.within(10, 20)); got != "[2 3 6 7]" {
		t.Errorf("within: %s", got)
	}
}

func TestDryTimes(t *testing.T) {
	k := &keyLog{grants: []*grant{{ok: 10}, {ok: 30}}}
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
		r := &run{ops: []history.Op{{Time: 5, Node: "g"}, {Time: 8, Node: "g"}}}
		k := &keyLog{name: "k", ghosts: []ghost{{owner: "g", info: 0, act: 1}}}
		for _, g := range c.grants {
			r.ops = append(r.ops, history.Op{Time: g[0], Node: "h"})
			k.grants = append(k.grants, &grant{op: len(r.ops) - 1, ok: g[0], end: g[1]})
		}
		var f found
		if r.judgeGhosts(k, &f); f.possible != c.want || f.certain != 0 {
			t.Errorf("%s: %+v", c.name, f)
		}
	}
}
