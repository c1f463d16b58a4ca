package checker

import (
	"testing"

	"pgregory.net/rapid"
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
				if h.end > g.ok {
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
