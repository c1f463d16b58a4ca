package checker

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
)

// TestMeet compares meet with a look at all pairs.
func TestMeet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := &keyLog{sure: true}
		for i := range rapid.IntRange(0, 40).Draw(t, "grants") {
			ok := rapid.Int64Range(0, 50).Draw(t, "ok")
			k.order = append(k.order, &grant{pos: i, key: k, ok: ok, end: ok + rapid.Int64Range(0, 30).Draw(t, "length")})
		}
		k.meet()
		for i, g := range k.order {
			var want *grant
			for _, h := range k.order[i+1:] {
				if h.end > g.ok && h.end > h.ok {
					want = earlier(want, h)
				}
			}
			if got := k.met[i]; (got == nil) != (want == nil) || got != nil && got.ok != want.ok {
				t.Fatalf("grant %d meets %+v first, want %+v", i, got, want)
			}
		}
	})
}

// TestWithout compares without with a look at each instant.
func TestWithout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var spans []span
		for at := int64(0); at < 30; {
			from := at + rapid.Int64Range(0, 5).Draw(t, "gap")
			at = from + rapid.Int64Range(1, 5).Draw(t, "length")
			spans = extend(spans, from, at)
		}
		whole := span{from: rapid.Int64Range(0, 30).Draw(t, "from")}
		whole.to = whole.from + rapid.Int64Range(0, 20).Draw(t, "whole")
		left := without(whole, spans)
		in := func(spans []span, t int64) bool {
			for _, s := range spans {
				if s.from <= t && t < s.to {
					return true
				}
			}
			return false
		}
		for i := int64(0); i < 60; i++ {
			if want := in([]span{whole}, i) && !in(spans, i); in(left, i) != want {
				t.Fatalf("%v without %v is %v: wrong at %d", whole, spans, left, i)
			}
		}
	})
}

// Who was done when g was proven, or acted only before the other was granted, hides nobody.
func TestLaterHidesNobody(t *testing.T) {
	k := &keyLog{sure: true}
	g, done, holds := &grant{key: k, ok: 5, end: 20}, &grant{key: k, ok: 3, end: 5, pos: 1}, &grant{key: k, ok: 8, end: 20, pos: 2}
	g.by, k.order, k.grants = done, []*grant{g, done, holds}, []*grant{done, g, holds}
	if got := k.later(g); len(got) != 1 || got[0] != holds {
		t.Errorf("behind one that was done: %+v", got)
	}
	k = &keyLog{}
	one := &grant{key: k, ok: 5, end: 20, sent: 2}
	idle := &grant{key: k, ok: 8, end: 20, sent: 4, lastAct: 8, pos: 1}
	acts := &grant{key: k, ok: 9, end: 20, sent: 4, lastAct: 12, pos: 2}
	k.grants, k.order = []*grant{one, idle, acts}, []*grant{one, idle, acts}
	if got := k.later(one); len(got) != 2 || got[0] != idle || got[1] != acts {
		t.Errorf("behind one that was idle: %+v", got)
	}
}

// A lease that had ended when its client was told of it was never valid.
func TestNeverValid(t *testing.T) {
	for ok, want := range map[int64]bool{8: false, 9: true, 10: true} {
		r := &run{ops: []history.Op{{Deadline: 9 + clockNoise}}, clocks: map[string]*clock{"a": {offsets: []int64{0}}}}
		if got := r.neverValid(&grant{node: "a", ok: ok}); got != want {
			t.Errorf("told at %d of a lease until 9: %v", ok, got)
		}
	}
}
