package checker

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// The definition of a row of requests of unknown outcome that explain no wait as long as this, asked of every half second.

// vainly draws clients that ask again and again, one request after the other, grants of others, renewals of unknown outcome
// and faults, all of half seconds. The patience is 5 s, a lease and the bound are 1 s.
func vainly(t *rapid.T) *run {
	number := func(name string, most int64) int64 { return rapid.Int64Range(0, most).Draw(t, name) }
	b := newBuilder()
	b.setup.Servers, b.setup.Promise.Token = []string{"s"}, false
	b.setup.Clients = []string{"w0", "w1", "g0", "g1", "g2", "idle"}
	for i := range 1 + number("clients", 1) {
		node, at := fmt.Sprint("w", i), number("begins", 20)*half
		for range 1 + number("requests", 7) {
			b.op(at, node, history.Invoke, history.Acquire, "k")
			at += (1 + number("waits", 20)) * half
			b.op(at, node, []history.Type{history.Fail, history.Fail, history.Info}[number("ends", 2)], history.Acquire, "k")
			if number("rests", 5) == 0 {
				at += half
			}
		}
	}
	for i := range number("grants", 3) {
		at := number("granted", 60) * half
		h := b.grantOf(at, at, fmt.Sprint("g", i), 0)
		does := func(at int64, node string, f history.F, end history.Type) {
			for _, typ := range []history.Type{history.Invoke, end} {
				b.op(at, node, typ, f, "k").Owner = h.owner
			}
		}
		if number("renews", 2) == 0 {
			does(at, h.node, history.Extend, []history.Type{history.OK, history.Info}[number("told", 1)])
		}
		if number("gives back", 1) == 0 {
			does(at+half, fmt.Sprint("r", i), history.Release, history.OK)
		}
	}
	if number("fault", 2) == 0 {
		from := number("hits", 60) * half
		b.fault(from, from+(1+number("lasts", 4))*half, 1, "pause", []string{"s", "w0", "idle"}[number("at", 2)])
	}
	if number("stalled", 5) == 0 {
		b.stall(number("stalls at", 60)*half, "w1", 200*ms)
	}
	b.op(100*half, "runner", history.Note, history.Final, "")
	return newRun(b.done())
}

// inRow counts the waits of clients, each of requests that follow each other, that hold a time of more than 7.5 s in which
// nobody was known to have the key and nothing was at fault, less a second for each request of unknown outcome.
func (b brute) inRow() (n int) {
	k := b.r.named("k")
	for _, node := range []string{"w0", "w1"} {
		waits := slices.DeleteFunc(slices.Clone(k.Waits), func(w trace.Wait) bool { return b.r.Ops[w.Invoke].Node != node })
		for len(waits) > 0 {
			from, to := waits[0].From, waits[0].To
			for waits = waits[1:]; len(waits) > 0 && waits[0].From == to; waits = waits[1:] {
				to = waits[0].To
			}
			if b.rowOfUnknown(k, node, from, to) {
				n++
			}
		}
	}
	return n
}

func (b brute) rowOfUnknown(k *keyLog, node string, from, to int64) bool {
	begin := int64(-1)
	for at := from; at <= to; at += half {
		free := at < to && !b.knownHeld(k, at) && !slices.ContainsFunc(b.r.Faults, func(f *trace.Fault) bool {
			return (f.Target == "s" || f.Target == node) && f.From <= at && at < b.fades(f)
		})
		if free && begin < 0 {
			begin = at
		}
		if free || begin < 0 {
			continue
		}
		if left := at - begin - b.unknownIn(begin, at)*sec; left > 7500*ms && !b.stalledIn(k, begin, at) {
			return true
		}
		begin = -1
	}
	return false
}

// stalledIn says that the server stood still between two times, or who wanted the key or may have had it, meanwhile.
func (b brute) stalledIn(k *keyLog, from, to int64) bool {
	return slices.ContainsFunc(b.r.stalls, func(s trace.Stall) bool {
		return s.Server && s.From <= to && s.To >= from || slices.ContainsFunc(b.r.attempts(k), func(a attempt) bool {
			begin, end := max(from, a.from), min(to, a.to)
			return b.r.Ops[k.Waits[a.wait].Invoke].Node == s.Node && begin < end && s.From <= end && s.To >= begin
		})
	})
}

// knownHeld says whether somebody who was granted the key may have it in the half second from a time on.
func (b brute) knownHeld(k *keyLog, at int64) bool {
	return slices.ContainsFunc(k.Grants, func(g *trace.Grant) bool {
		until := g.LastSeen + sec
		if g.Done >= 0 {
			until = b.r.Ops[g.Done].Time
		}
		return g.OK < at+half && at < until
	})
}

// unknownIn counts the requests of unknown outcome that may have come, or kept the key, between two times.
func (b brute) unknownIn(from, to int64) (n int64) {
	for i, op := range b.r.Ops {
		invoke, _ := b.r.Started(i)
		if op.Type != history.Info || op.F != history.Acquire && op.F != history.Extend {
			continue
		}
		asked, until := b.r.Ops[invoke].Time, op.Time+sec
		last := until
		for _, f := range b.r.Faults { // what is under way may come when the fault has faded
			if own := f.Target == op.Node; (own || f.Target == "s" && op.F == history.Acquire) && f.From <= until && b.fades(f) >= asked {
				last = max(last, b.fades(f))
			}
		}
		if asked < to && last > from {
			n++
		}
	}
	return n
}

func TestRowOfUnknownAgrees(t *testing.T) {
	bothWays(t, 10, func(t *rapid.T) bool {
		r := vainly(t)
		var f found
		r.stuckInRow(r.named("k"), &f)
		want := brute{r}.inRow()
		if f.certain != want || f.possible > 0 && len(r.stalls) == 0 {
			for _, op := range r.Ops {
				t.Logf("%2d %6.1f %s %s %s %v", op.Index, float64(op.Time-origin)/1e9, op.Node, op.Type, op.F, op.Fault)
			}
			t.Fatalf("want %d: %+v", want, f.list)
		}
		return want > 0
	})
}
