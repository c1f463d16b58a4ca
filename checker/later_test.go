package checker

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// TestMeet compares meet with a look at all pairs.
func TestMeet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := &keyLog{Key: &trace.Key{Sure: true}}
		for i := range rapid.IntRange(0, 40).Draw(t, "grants") {
			ok := rapid.Int64Range(0, 50).Draw(t, "ok")
			k.Order = append(k.Order, &trace.Grant{Pos: i, Key: k.Key, OK: ok, End: ok + rapid.Int64Range(0, 30).Draw(t, "length")})
		}
		k.meet()
		for i, g := range k.Order {
			var want *trace.Grant
			for _, h := range k.Order[i+1:] {
				if h.End > g.OK && h.End > h.OK {
					want = trace.Earlier(want, h)
				}
			}
			if got := k.met[i]; (got == nil) != (want == nil) || got != nil && got.OK != want.OK {
				t.Fatalf("grant %d meets %+v first, want %+v", i, got, want)
			}
		}
	})
}

// TestWithout compares without with a look at each instant.
func TestWithout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var spans []trace.Span
		for at := int64(0); at < 30; {
			from := at + rapid.Int64Range(0, 5).Draw(t, "gap")
			at = from + rapid.Int64Range(1, 5).Draw(t, "length")
			spans = trace.Append(spans, from, at)
		}
		whole := trace.Span{From: rapid.Int64Range(0, 30).Draw(t, "from")}
		whole.To = whole.From + rapid.Int64Range(0, 20).Draw(t, "whole")
		left := without(whole, spans)
		in := func(spans []trace.Span, t int64) bool {
			for _, s := range spans {
				if s.From <= t && t < s.To {
					return true
				}
			}
			return false
		}
		for i := int64(0); i < 60; i++ {
			if want := in([]trace.Span{whole}, i) && !in(spans, i); in(left, i) != want {
				t.Fatalf("%v without %v is %v: wrong at %d", whole, spans, left, i)
			}
		}
	})
}

// Who was done when g was proven, or acted only before the other was granted, hides nobody.
func TestLaterHidesNobody(t *testing.T) {
	k := &keyLog{Key: &trace.Key{Sure: true}}
	g, done, holds := &trace.Grant{Key: k.Key, OK: 5, End: 20}, &trace.Grant{Key: k.Key, OK: 3, End: 5, Pos: 1}, &trace.Grant{Key: k.Key, OK: 8, End: 20, Pos: 2}
	g.By, k.Order, k.Grants = done, []*trace.Grant{g, done, holds}, []*trace.Grant{done, g, holds}
	if got := k.later(g); len(got) != 1 || got[0] != holds {
		t.Errorf("behind one that was done: %+v", got)
	}
	k = &keyLog{Key: &trace.Key{}}
	one := &trace.Grant{Key: k.Key, OK: 5, End: 20, Sent: 2}
	idle := &trace.Grant{Key: k.Key, OK: 8, End: 20, Sent: 4, LastAct: 8, Pos: 1}
	acts := &trace.Grant{Key: k.Key, OK: 9, End: 20, Sent: 4, LastAct: 12, Pos: 2}
	k.Grants, k.Order = []*trace.Grant{one, idle, acts}, []*trace.Grant{one, idle, acts}
	if got := k.later(one); len(got) != 2 || got[0] != idle || got[1] != acts {
		t.Errorf("behind one that was idle: %+v", got)
	}
}

// A lease that had ended when its client was told of it was never valid.
func TestNeverValid(t *testing.T) {
	for ok, want := range map[int64]bool{8: false, 9: true, 10: true} {
		r := &run{Trace: trace.New(history.Setup{}, []history.Op{{Type: history.OK, Node: "a", Mono: 1, Time: 1, Deadline: 9 + trace.ClockNoise}})}
		if got := r.neverValid(&trace.Grant{Node: "a", OK: ok}); got != want {
			t.Errorf("told at %d of a lease until 9: %v", ok, got)
		}
	}
}
