// Package resourcetest is the suite that every guarded resource passes.
package resourcetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/workloads/resource"
)

// Fixture is one fresh, empty resource.
type Fixture struct {
	Resource resource.Resource
	// Log returns the resource's own log; it is called when no call is under way.
	Log func() []history.Op
}

// Open makes a fixture that lives until the end of a test.
type Open func(t testing.TB, rules resource.Rules) Fixture

// Run runs the whole suite.
func Run(t *testing.T, open Open) {
	t.Run("rules", func(t *testing.T) { testRules(t, open) })
	t.Run("model", func(t *testing.T) { testModel(t, open) })
	t.Run("repeat", func(t *testing.T) { testRepeat(t, open) })
	t.Run("refusals", func(t *testing.T) { testRefusals(t, open) })
	t.Run("concurrency", func(t *testing.T) { testConcurrency(t, open) })
	t.Run("effects", func(t *testing.T) { testEffects(t, open) })
	t.Run("if unchanged", func(t *testing.T) { testIfUnchanged(t, open) })
	t.Run("ended context", func(t *testing.T) { testEnded(t, open) })
}

// step is one call: a read, or a write whose fate in the fenced copy is known.
type step struct {
	read     bool
	token    int64
	accepted bool
}

func testRules(t *testing.T, open Open) {
	w := func(token int64, accepted bool) step { return step{token: token, accepted: accepted} }
	r := func(token int64) step { return step{read: true, token: token} }
	for _, c := range []struct {
		name  string
		rules resource.Rules
		steps []step
	}{
		{"rising", resource.Rules{}, []step{w(1, true), w(2, true), w(7, true)}},
		{"stale", resource.Rules{}, []step{w(2, true), w(1, false), w(2, true)}},
		{"second write of a grant", resource.Rules{Fencing: resource.AtLeast}, []step{w(3, true), w(3, true)}},
		{"strict refuses the second write", resource.Rules{Fencing: resource.Strict}, []step{w(3, true), w(3, false), w(4, true)}},
		{"no token is not checked", resource.Rules{}, []step{w(5, true), w(0, true), w(4, false)}},
		{"strict does not check no token", resource.Rules{Fencing: resource.Strict}, []step{w(0, true), w(0, true)}},
		{"a read registers nothing", resource.Rules{FenceOn: resource.OnWrite}, []step{r(5), w(4, true)}},
		{"a read registers its token", resource.Rules{FenceOn: resource.OnRead}, []step{r(5), w(4, false), w(5, true)}},
		{"a stale read registers nothing", resource.Rules{FenceOn: resource.OnRead}, []step{r(5), r(4), w(4, false), w(5, true)}},
		{"a read without token", resource.Rules{FenceOn: resource.OnRead}, []step{r(5), r(0), w(4, false)}},
		{"strict after a read of its own", resource.Rules{Fencing: resource.Strict, FenceOn: resource.OnRead}, []step{r(5), w(5, true), w(5, false)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := open(t, c.rules).Resource
			for i, s := range c.steps {
				if s.read {
					_, err := res.Read(t.Context(), resource.ReadRequest{Key: "k", Token: s.token})
					must(t, err)
					continue
				}
				got, err := res.Write(t.Context(), resource.WriteRequest{Key: "k", Token: s.token, Value: fmt.Sprint(i + 1)})
				must(t, err)
				if got.Fenced.Accepted != s.accepted || !got.Unfenced.Accepted {
					t.Errorf("step %d, token %d: accepted unfenced %v, fenced %v; want true, %v", i, s.token,
						got.Unfenced.Accepted, got.Fenced.Accepted, s.accepted)
				}
			}
		})
	}
}

func testRepeat(t *testing.T, open Open) {
	f := open(t, resource.Rules{Fencing: resource.Strict})
	req := resource.WriteRequest{Key: "k", Owner: "a", Token: 1, Value: "v1"}
	first, err := f.Resource.Write(t.Context(), req)
	must(t, err)
	_, err = f.Resource.Write(t.Context(), resource.WriteRequest{Key: "k", Owner: "b", Token: 2, Value: "v2"})
	must(t, err)
	again, err := f.Resource.Write(t.Context(), req)
	must(t, err)
	if again != first {
		t.Errorf("a repeat was answered %+v, the first time %+v", again, first)
	}
	now, err := f.Resource.Read(t.Context(), resource.ReadRequest{Key: "k"})
	must(t, err)
	if now.Unfenced.Value != "v2" || now.Fenced.Value != "v2" {
		t.Errorf("a repeat changed the copies: %+v", now)
	}
	if n := len(f.Log()); n != 3 {
		t.Errorf("%d log lines, want 3: two writes and a read", n)
	}
	req.Owner = "c"
	if _, err = f.Resource.Write(t.Context(), req); !errors.Is(err, resource.ErrNoEffect) {
		t.Errorf("a value used by another write: %v, want ErrNoEffect", err)
	}
}

func testRefusals(t *testing.T, open Open) {
	f := open(t, resource.Rules{})
	for _, req := range []resource.WriteRequest{{Value: "v"}, {Key: "k"}, {Key: "k", Value: "v", Token: -1}} {
		if _, err := f.Resource.Write(t.Context(), req); !errors.Is(err, resource.ErrNoEffect) {
			t.Errorf("%+v: %v, want ErrNoEffect", req, err)
		}
	}
	if _, err := f.Resource.Read(t.Context(), resource.ReadRequest{}); !errors.Is(err, resource.ErrNoEffect) {
		t.Errorf("read without key: %v, want ErrNoEffect", err)
	}
	if n := len(f.Log()); n != 0 {
		t.Errorf("%d log lines of refused requests", n)
	}
}

func testEnded(t *testing.T, open Open) {
	f := open(t, resource.Rules{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Resource.Read(ctx, resource.ReadRequest{Key: "k"}); !errors.Is(err, resource.ErrNoEffect) || !errors.Is(err, context.Canceled) {
		t.Errorf("read: %v, want ErrNoEffect and Canceled", err)
	}
}

// testConcurrency lets clients write and read without any lock, then follows
// the chain of values through the log.
func testConcurrency(t *testing.T, open Open) {
	const clients, calls = 8, 25
	f := open(t, resource.Rules{})
	var mu sync.Mutex
	answers := map[string]span{}
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			for i := range calls {
				key, value := fmt.Sprint("k", i%2), fmt.Sprint("v", c, "-", i)
				_, err := f.Resource.Read(t.Context(), resource.ReadRequest{Key: key, Owner: value})
				if err != nil {
					t.Error(err)
				}
				sent := history.Raw()
				got, err := f.Resource.Write(t.Context(), resource.WriteRequest{Key: key, Owner: value, Value: value, Token: int64(i + 1)})
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				answers[value] = span{got, sent, history.Raw()}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	log := f.Log()
	if len(log) != clients*calls*2 {
		t.Errorf("%d log lines, want %d", len(log), clients*calls*2)
	}
	follow(t, log, answers)
}

// span is what a client saw of its write, and between which instants.
type span struct {
	copies   resource.Copies
	from, to int64
}

func follow(t *testing.T, log []history.Op, answers map[string]span) {
	if !slices.IsSortedFunc(log, func(a, b history.Op) int { return cmp.Compare(a.Time, b.Time) }) {
		t.Error("the log is not in the order of its times")
	}
	unfenced, fenced, last := map[string]string{}, map[string]string{}, map[string]int64{}
	for i, op := range log {
		if op.Type != history.Note || op.Time <= last[op.Key] {
			t.Errorf("line %d: type %s at %s after %s", i, op.Type, time.Duration(op.Time), time.Duration(last[op.Key]))
		}
		last[op.Key] = op.Time
		u, f := op.Unfenced.Value, op.Fenced.Value
		if op.F == history.Apply {
			u, f = op.Unfenced.Previous, op.Fenced.Previous
		}
		if u != unfenced[op.Key] || f != fenced[op.Key] {
			t.Errorf("line %d: saw %q and %q, want %q and %q", i, u, f, unfenced[op.Key], fenced[op.Key])
		}
		if op.F != history.Apply {
			continue
		}
		a := answers[op.Value]
		if a.copies.Unfenced != *op.Unfenced || a.copies.Fenced != *op.Fenced || op.Time < a.from || op.Time > a.to {
			t.Errorf("line %d: %+v does not fit the client's answer %+v", i, op, a)
		}
		unfenced[op.Key] = op.Value
		if op.Fenced.Accepted {
			fenced[op.Key] = op.Value
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
