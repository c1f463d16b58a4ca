package checker

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
)

// tokenTold is a token that a client was told between two times, in ms, as the oracle of every order knows it.
type tokenTold struct {
	from, to, token int64
	writer          bool

	owner string // what shows it, in the history
	typ   history.Type
	f     history.F
}

// tokensTold draws tokens of a key that are told by answers to acquires and renewals, or seen when a client of whose
// acquire nobody knows the outcome writes. Windows are few, so that many meet and many times are equal.
func tokensTold(t *rapid.T) (b *builder, all []tokenTold) {
	number := func(name string, from, to int64) int64 { return rapid.Int64Range(from, to).Draw(t, name) }
	b = newBuilder()
	if number("kind", 0, 2) > 0 {
		b.kind(history.ReadWrite)
	}
	for n := range number("clients", 2, 5) {
		node := fmt.Sprint("client-", n+1)
		one := tokenTold{from: number("asked", 0, 9) * 10, token: min(number("token", 0, 40), 7), writer: true, typ: history.OK, f: history.Acquire}
		one.to = one.from + number("answered", 1, 6)*10
		mode := history.Mode("")
		if b.setup.Kind == history.ReadWrite {
			one.writer = number("reads", 0, 2) == 0
			mode = map[bool]history.Mode{true: exclusive, false: shared}[one.writer]
		}
		if one.writer && one.token > 0 && number("outcome", 0, 5) == 0 {
			one.owner, one.typ, one.f = node+"/unknown", history.Invoke, history.Write
			b.op(one.from*ms, node, history.Invoke, history.Acquire, "k").Mode = mode
			b.op(one.from*ms+ms, node, history.Info, history.Acquire, "k").Owner = one.owner
			b.write(one.to*ms, &held{node: node, key: "k", owner: one.owner, token: one.token})
			all = append(all, one)
			continue
		}
		h := b.as(one.from*ms, one.to*ms, node, mode, one.token)
		b.sent(h, one.from*ms)
		one.owner = h.owner
		all = append(all, one)
		if number("renews", 0, 5) > 0 {
			continue
		}
		again := one
		again.from, again.f, again.token = one.to+number("renews at", 1, 3)*10, history.Extend, number("retold", 1, 7)
		again.to = again.from + 1
		b.does(again.from*ms, h, history.Extend, history.OK)
		b.ops[len(b.ops)-1].Token = again.token
		if again.token != one.token {
			all = append(all, again)
		}
	}
	return b, all
}

// anyOrder says whether there is an order in which all of some tokens may have been told: each at an instant of its own
// time, no earlier than that of the one before, a writer's above all before it and a reader's not below a writer's.
func anyOrder(left, before []tokenTold, now int64) bool {
	if len(left) == 0 {
		return true
	}
	for i, one := range left {
		at := max(now, one.from)
		ill := at > one.to || one.writer && one.token == 0 || slices.ContainsFunc(before, func(o tokenTold) bool {
			return one.writer && one.token <= o.token || one.token > 0 && o.writer && one.token < o.token
		})
		if !ill && anyOrder(slices.Concat(left[:i], left[i+1:]), append(slices.Clone(before), one), at) {
			return true
		}
	}
	return false
}

// readerWithout says whether a reader was granted it without a token, and another with one.
func readerWithout(all []tokenTold) bool {
	tells := func(with bool) bool {
		return slices.ContainsFunc(all, func(o tokenTold) bool { return !o.writer && o.f == history.Acquire && (o.token > 0) == with })
	}
	return tells(true) && tells(false)
}

// TestTokensInEveryOrder tries every order of all grants, of a mutex and of a read-write lock: tokens are violated if and
// only if there is none in which they rise, and so are those alone that a violation names.
func TestTokensInEveryOrder(t *testing.T) {
	three := 0
	bothWays(t, 20, func(t *rapid.T) bool {
		b, all := tokensTold(t)
		setup, ops := b.done()
		if err := history.Validate(setup, ops); err != nil {
			t.Fatal(err)
		}
		r := newRun(setup, ops)
		f, want := fencingMonotonic(r).found, !anyOrder(all, nil, 0) || readerWithout(all)
		if (f.certain > 0) != want {
			t.Fatalf("%+v: %+v, want %v", all, f.list, want)
		}
		for _, v := range f.list {
			named := slices.DeleteFunc(slices.Clone(all), func(one tokenTold) bool {
				return !slices.ContainsFunc(v.Operations, func(i int) bool {
					op := &r.Ops[i]
					return op.Owner == one.owner && op.Type == one.typ && op.F == one.f
				})
			})
			without := len(named) == 1 && named[0].token == 0 // of a reader, as others have one
			if !v.Possible && !without && anyOrder(named, nil, 0) {
				t.Fatalf("%+v: those of %+v rise in some order", named, v)
			}
			if len(named) == 3 {
				three++
			}
		}
		return want
	})
	if three < 20 {
		t.Errorf("%d of three", three)
	}
	t.Logf("%d of three", three)
}

// heldFor is a hold of a mutex with a lease of a second that its client asks to give back, in ms.
type heldFor struct{ from, to, back, token int64 }

// anyTurns says whether holds can have come one after the other with rising tokens: each made at an instant of its own
// time, when that before it was asked to be given back, or its lease was over.
func anyTurns(left []heldFor, now, token int64) bool {
	if len(left) == 0 {
		return true
	}
	for i, h := range left {
		at := max(now, h.from)
		if at <= h.to && h.token > token && anyTurns(slices.Concat(left[:i], left[i+1:]), min(h.back, at+1000), h.token) {
			return true
		}
	}
	return false
}

// TestTurnsInEveryOrder tries every order of holds, one after the other: where there is none in which tokens rise the
// service broke a promise. Which one is open, as tokens may have gone back or two have held it at once, and
// fencing-monotonic alone leaves that undecided. But some property is violated, and none is where there is an order.
func TestTurnsInEveryOrder(t *testing.T) {
	bothWays(t, 5, func(t *rapid.T) bool {
		number := func(name string, from, to int64) int64 { return rapid.Int64Range(from, to).Draw(t, name) }
		b, all := newBuilder(), []heldFor(nil)
		b.setup.Promise.Validity = rapid.SampledFrom([]history.Validity{history.Told, history.Untold}).Draw(t, "validity")
		for i, token := range rapid.Permutation([]int64{1, 2, 3, 4}).Draw(t, "tokens")[:number("clients", 2, 4)] {
			h := heldFor{from: number("asked", 0, 11) * 50, token: token}
			h.to = h.from + number("answered", 0, 11)*50 + 1
			h.back = h.to + number("holds", 0, 5)*50 + 1
			g := b.grant(h.from*ms, h.to*ms, fmt.Sprint("client-", i+1), "k", token)
			b.claim(&b.ops[len(b.ops)-1], g, h.from*ms)
			b.does(h.back*ms, g, history.Release, history.OK)
			all = append(all, h)
		}
		setup, ops := b.done()
		if err := history.Validate(setup, ops); err != nil {
			t.Fatal(err)
		}
		result, want := Judge(setup, ops), !anyTurns(all, 0, 0)
		if (result.Verdict == Violated) != want {
			t.Fatalf("%+v: %s, want violated: %v", all, result.Verdict, want)
		}
		return want
	})
}
