package resourcetest

import (
	"errors"
	"testing"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/workloads/resource"
)

// testEffects: what happens in each world, by token and by idempotency key.
func testEffects(t *testing.T, open Open) {
	f := open(t, resource.Rules{})
	doer, ok := f.Resource.(resource.Doer)
	if !ok {
		t.Fatal("it makes no effects")
	}
	steps := []struct {
		req             resource.EffectRequest
		unfenced, fence bool
		before          string // in the unfenced world
	}{
		{resource.EffectRequest{Token: 5, Value: "e1", Unfenced: "charge 1", Fenced: "charge 1"}, true, true, ""},
		{resource.EffectRequest{Token: 3, Value: "e2", Unfenced: "charge 1", Fenced: "charge 1"}, true, true, ""},
		{resource.EffectRequest{Token: 5, Value: "e3", Unfenced: "block", Fenced: "block", Fence: true}, true, true, ""},
		{resource.EffectRequest{Token: 3, Value: "e4", Unfenced: "block", Fenced: "block", Fence: true}, true, false, ""},
		{resource.EffectRequest{Value: "e5", Unfenced: "block", Fenced: "block", Fence: true}, true, true, ""},
		{resource.EffectRequest{Token: 6, Value: "e6", Unfenced: "order 1", Fenced: "order 1", Once: true}, true, true, ""},
		{resource.EffectRequest{Token: 7, Value: "e7", Unfenced: "order 1", Fenced: "order 2", Once: true}, false, true, "e6"},
		{resource.EffectRequest{Token: 8, Value: "e8", Fenced: "order 3"}, false, true, ""},
	}
	for _, s := range steps {
		s.req.Key, s.req.Owner = "k", "o"
		for range 2 { // the second is a repeat
			c, err := doer.Do(t.Context(), s.req)
			if err != nil {
				t.Fatal(err)
			}
			if c.Unfenced.Accepted != s.unfenced || c.Fenced.Accepted != s.fence || c.Unfenced.Previous != s.before || c.Unfenced.Value != s.req.Unfenced {
				t.Errorf("%+v: %+v", s.req, c)
			}
		}
		other := s.req
		other.Owner = "p"
		if _, err := doer.Do(t.Context(), other); !errors.Is(err, resource.ErrNoEffect) {
			t.Errorf("%s was used again: %v", s.req.Value, err)
		}
	}
	if _, err := doer.Do(t.Context(), resource.EffectRequest{Key: "k"}); !errors.Is(err, resource.ErrNoEffect) {
		t.Errorf("no value: %v", err)
	}
	var seen int
	for _, op := range f.Log() {
		if op.F != history.Happened || op.Value != steps[seen].req.Value ||
			op.Unfenced.Accepted != steps[seen].unfenced || op.Fenced.Accepted != steps[seen].fence {
			t.Errorf("log %d: %+v", seen, op)
		}
		seen++
	}
	if seen != len(steps) {
		t.Errorf("%d lines of log for %d effects", seen, len(steps))
	}
}

// testIfUnchanged: a version column takes a write only on top of what its writer has seen.
func testIfUnchanged(t *testing.T, open Open) {
	f := open(t, resource.Rules{})
	for _, s := range []struct {
		value, base     string
		unchanged, want bool
	}{{"a", "", true, true}, {"b", "", true, false}, {"c", "a", true, true}, {"d", "a", false, true}, {"e", "c", true, false}, {"f", "d", true, true}} {
		c, err := f.Resource.Write(t.Context(), resource.WriteRequest{Key: "k", Value: s.value, UnfencedBase: s.base,
			FencedBase: s.base, IfUnchanged: s.unchanged})
		if err != nil || c.Unfenced.Accepted != s.want || c.Fenced.Accepted != s.want {
			t.Errorf("%+v: %+v %v", s, c, err)
		}
	}
}
