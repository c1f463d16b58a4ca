package checker

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// inCircles draws three clients that take and give back three keys, one step after
// another, waiting for some time at each.
func inCircles(t *rapid.T) *run {
	b := newBuilder()
	b.setup.Use, b.setup.Keys, b.setup.Lease = history.Use{Name: history.TwoKeys}, []string{"k", "l", "m"}, 3e6
	number := func(name string, least, most int) int64 { return int64(rapid.IntRange(least, most).Draw(t, name)) }
	for c := range 3 {
		node, at := fmt.Sprintf("client-%d", c+1), number("starts", 0, 4)*ms
		var has []*held
		for range number("steps", 1, 5) {
			if len(has) > 0 && number("gives back", 0, 3) == 0 {
				b.does(at, has[0], history.Release, history.OK)
				has, at = has[1:], at+2*ms
				continue
			}
			key, until := b.setup.Keys[number("key", 0, 4)/2], at+number("waits", 0, 30)*ms
			if number("gets it", 0, 3) == 0 {
				b.op(at, node, history.Invoke, history.Acquire, key)
				b.op(until, node, history.Fail, history.Acquire, key)
			} else {
				h := b.grant(at, until, node, key, 0)
				has = append(has, h)
				switch number("loses it", 0, 9) {
				case 0: // at once
					b.note(until, h, history.Lost)
				case 1, 2:
					b.note(until+number("later", 1, 40)*ms, h, history.Lost)
				}
			}
			at = until + number("then", 1, 4)*ms
		}
		if number("is left waiting", 0, 3) == 0 {
			b.op(at, node, history.Invoke, history.Acquire, b.setup.Keys[number("key", 0, 4)/2])
		}
	}
	setup, ops := b.done()
	if err := history.Validate(setup, ops); err != nil {
		t.Fatal(err)
	}
	return newRun(setup, ops)
}

// stood are the circles at one instant, each as the invokes by which its members wait.
func (b brute) stood(at int64) (circles [][]int) {
	waits, holder := map[string]int{}, map[string]string{} // invoke by client, client by key
	for _, k := range b.r.keys {
		for _, w := range k.Waits {
			if w.From <= at && at < w.To {
				waits[b.r.client(w.Invoke)] = w.Invoke
			}
		}
		for i, g := range k.Grants {
			superseded := slices.ContainsFunc(k.Grants[i+1:], func(h *trace.Grant) bool { return h.OK <= at })
			if g.OK <= at && at < g.End && !superseded {
				holder[k.Name] = b.r.client(g.Op)
			}
		}
	}
	for client := range waits {
		circle, who := []int{}, client
		for range 4 {
			invoke, waits := waits[who]
			if !waits || slices.Contains(circle, invoke) {
				break
			}
			circle = append(circle, invoke)
			next, held := holder[b.r.Ops[invoke].Key]
			if !held || next == who {
				break
			}
			if who = next; who == client {
				slices.Sort(circle)
				if !slices.ContainsFunc(circles, func(c []int) bool { return slices.Equal(c, circle) }) {
					circles = append(circles, circle)
				}
				break
			}
		}
	}
	return circles
}

// deadlocked asks at each instant at which anything happens who waits for whom, and
// counts the circles that stand for longer than a lease, by an invoke of each.
func (b brute) deadlocked() (ops []int) {
	since := map[string]int64{}
	end := func(circle []int, at int64) {
		if at-since[fmt.Sprint(circle)] > int64(b.r.Setup.Lease) {
			ops = append(ops, circle[0])
		}
		delete(since, fmt.Sprint(circle))
	}
	var open [][]int
	var instants []int64
	for i := range b.r.Ops {
		instants = append(instants, b.r.Ops[i].Time)
	}
	for _, g := range b.r.Grants { // a belief may end at a deadline, where nothing happens
		if g.End < b.r.End {
			instants = append(instants, g.End)
		}
	}
	slices.Sort(instants)
	for _, at := range instants {
		now := b.stood(at)
		is := func(c []int) func([]int) bool { return func(d []int) bool { return slices.Equal(c, d) } }
		for _, c := range open {
			if !slices.ContainsFunc(now, is(c)) {
				end(c, at)
			}
		}
		for _, c := range now {
			if !slices.ContainsFunc(open, is(c)) {
				since[fmt.Sprint(c)] = at
			}
		}
		open = now
	}
	for _, c := range open {
		end(c, b.r.End)
	}
	return ops
}

func TestNoDeadlockAgrees(t *testing.T) {
	useAgrees(t, inCircles, func(r *run) []int { return brute{r}.deadlocked() }, noDeadlock)
}

// A circle stands on when one of its clients loses a key that nobody in it waits for.
func TestDeadlockBesideAnotherKey(t *testing.T) {
	b := newBuilder()
	b.setup.Use, b.setup.Keys = history.Use{Name: history.TwoKeys}, []string{"k", "l", "m"}
	b.grant(0, ms, "client-1", "k", 1)
	m := b.grant(2*ms, 3*ms, "client-1", "m", 2)
	b.grant(0, ms, "client-2", "l", 1)
	for node, key := range map[string]string{"client-1": "l", "client-2": "k"} {
		b.op(5*ms, node, history.Invoke, history.Acquire, key)
		b.op(3*sec, node, history.Fail, history.Acquire, key)
	}
	b.note(500*ms, m, history.Lost)
	if p := noDeadlock(newRun(b.done())).property("no-deadlock"); p.Verdict != Violated {
		t.Errorf("%s: %s", p.Verdict, p.Reason)
	}
}
