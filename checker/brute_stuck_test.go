package checker

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// The definition of deadlock-freedom while a run goes on, asked of every second.

// waiting draws sessions, waits and faults of whole seconds, so that many meet, with a
// patience of 5 s.
func waiting(t *rapid.T) *run {
	number := func(name string, most int64) int64 { return rapid.Int64Range(0, most).Draw(t, name) }
	b := newBuilder()
	b.setup.Clients, b.setup.Servers = []string{"g0", "w0"}, []string{"s"}
	for i := range number("sessions", 3) {
		h := b.grantOf(0, number("granted", 30)*sec, fmt.Sprint("g", i), 0)
		if at := b.ops[len(b.ops)-1].Time - origin; number("gives back", 5) > 0 {
			b.op(at+number("holds", 3)*sec, h.node, history.Invoke, history.Release, "k").Owner = h.owner
		}
	}
	for i := range number("waits", 5) {
		node, from := fmt.Sprint("w", i), number("asks", 30)*sec
		b.op(from, node, history.Invoke, []history.F{history.Acquire, history.Acquire, history.Try}[number("f", 2)], "k")
		to := from + number("waits for", 14)*sec
		switch number("outcome", 7) {
		case 0, 2:
			b.op(to, node, history.Info, history.Acquire, "k")
		case 1: // it never returns
		default:
			b.op(to, node, history.Fail, history.Acquire, "k")
		}
	}
	for i := range number("faults", 2) {
		kind := []string{"pause", "kill", "crash"}[number("kind", 2)]
		from := number("hits", 30) * sec
		b.fault(from, from+sec+number("lasts", 4)*sec, int(i)+1, kind, []string{"s", "g0", "w0"}[number("at", 2)])
	}
	for i := range number("stops", 3) {
		b.op(number("stops at", 33)*sec, fmt.Sprint("w", i), history.Note, history.Stop, "")
	}
	b.setup.Promise.Leased = number("leased", 1) == 1
	if b.setup.Promise.Session = number("session", 4) == 0; number("quorum", 5) == 0 {
		b.setup.Promise.DriftFactor = .01
	}
	b.stall(34*sec, "w0", 1)
	for range number("stalls", 3) {
		b.stall(number("stalled at", 33)*sec, []string{"w0", "w1", "w2", "s"}[number("who", 3)], 200*ms)
	}
	for i := range b.ops {
		b.ops[i].Deadline = 0
	}
	return newRun(b.done())
}

// stuck counts the times of more than 5 s in which somebody waited, in each time in
// which nobody believes in a grant, none is made and no fault is open.
func (b brute) stuck() (n int) {
	k := b.r.named("k")
	from := b.r.Begin
	in := func(from, to int64) int {
		if found := b.stuckIn(k, from, to); n+found > 0 {
			return found
		}
		return b.rowIn(k, from, to)
	}
	for at := b.r.Begin; at <= b.r.End; at += sec {
		granted := slices.ContainsFunc(k.Grants, func(g *trace.Grant) bool { return g.OK == at })
		if !b.idle(k, at) {
			n += in(from, at)
			from = at + sec
		} else if granted {
			n += in(from, at)
			from = at
		}
	}
	return n + in(from, b.r.End)
}

// idle says whether, for the second that begins at t, nobody believes to hold the key
// and no fault is open. That of a server that died is until it answers somebody.
func (b brute) idle(k *keyLog, t int64) bool {
	held := slices.ContainsFunc(k.Grants, func(g *trace.Grant) bool {
		over := b.r.Setup.Promise.Leased && !b.r.Setup.Promise.Session && t >= g.OK+int64(b.r.Setup.Lease) // nobody renews here
		return g.OK <= t && t < g.End && !over
	})
	return !held && !slices.ContainsFunc(b.r.Faults, func(f *trace.Fault) bool {
		over := b.answersAgain(f)
		if !b.concerns(k, f.Target, f.From, f.To+int64(b.r.Setup.Lease)+int64(b.r.Setup.Promise.Bound)) {
			return false
		}
		if f.Kind == "kill" && slices.Contains(b.r.Setup.Clients, f.Target) { // nobody waits for the dead
			over = min(over, f.From+b.r.aftermath())
		}
		return f.From <= t && t < over
	})
}

// answersAgain is when a fault is over, and a server that died has answered somebody.
func (b brute) answersAgain(f *trace.Fault) int64 {
	if f.Target != "s" || f.Kind == "pause" {
		return f.To
	}
	answered := slices.IndexFunc(b.r.Ops, func(o history.Op) bool {
		return (o.Type == history.OK || o.Busy || o.Type == history.Fail && o.F == history.Release) && o.Time >= f.To
	})
	over := max(f.To, b.r.End)
	if answered >= 0 {
		over = b.r.Ops[answered].Time
	}
	return min(over, f.To+2*int64(b.r.Setup.Lease)+3*sec+int64(b.r.Setup.Promise.Bound))
}

// concerns says whether a node is the server, or wanted the key or may have had it between two times. Until when
// an attempt may keep a key is asked of the judge: TestRefusalAgrees and TestHonestRefusalAgrees have their own answer.
func (b brute) concerns(k *keyLog, node string, from, to int64) bool {
	return node == "s" || slices.ContainsFunc(b.r.attempts(k), func(a attempt) bool {
		return b.r.Ops[k.Waits[a.wait].Invoke].Node == node && a.from <= to && a.to >= from
	})
}

// hides says whether an acquire of unknown outcome may have had the key at any time of it, and
// not only as it ended: its answer may have been lost, or nothing ends what it had.
func (b brute) hides(w trace.Wait) bool {
	p := b.r.Setup.Promise
	if !p.Leased || p.Session || p.DriftFactor > 0 || w.From == w.To {
		return true
	}
	for _, f := range b.r.Faults {
		if (f.Target == "s" || f.Target == b.r.Ops[w.Invoke].Node) && f.From <= w.To && w.From <= f.To+int64(b.r.Setup.Lease)+int64(p.Bound) {
			return true
		}
	}
	for _, s := range b.r.stalls {
		if (s.Server || s.Node == b.r.Ops[w.Invoke].Node) && s.From <= w.To && w.From <= s.To {
			return true
		}
	}
	return false
}

// stuckIn counts the unbroken times of more than 5 s in which somebody waited.
func (b brute) stuckIn(k *keyLog, from, to int64) (n int) {
	asks := func(trace.Wait) bool { return true } // who tries waits as well
	unknown := func(w trace.Wait) bool {
		return asks(w) && w.Done >= 0 && b.r.Ops[w.Done].Type == history.Info && w.To < to
	}
	long := 0
	for at := from; at <= to; at += sec {
		// Who was told nothing may have held the key meanwhile, and a lease beyond.
		if at == to || slices.ContainsFunc(k.Waits, func(w trace.Wait) bool { return unknown(w) && (at == w.To || b.hides(w) && w.From <= at && at < w.To) }) {
			n += min(long/6, 1)
			long = 0
		}
		ghost := slices.ContainsFunc(k.Waits, func(w trace.Wait) bool { return unknown(w) && b.hides(w) && w.From <= at && at < w.To })
		if !ghost && slices.ContainsFunc(k.Waits, func(w trace.Wait) bool { return asks(w) && w.From <= at && at < b.until(w) }) {
			long++
			continue
		}
		n += min(long/6, 1)
		long = 0
	}
	return n
}

// rowIn counts the times of more than 7.5 s in which somebody waited all the while, less a lease and
// the bound for each acquire of unknown outcome that may have kept the key then, with nothing amiss.
func (b brute) rowIn(k *keyLog, from, to int64) (n int) {
	if b.r.Setup.Promise.DriftFactor > 0 {
		return 0
	}
	keeps := int64(b.r.Setup.Lease) + int64(b.r.Setup.Promise.Bound)
	begin := int64(-1)
	for at := from; at <= to; at += sec {
		waits := at < to && slices.ContainsFunc(k.Waits, func(w trace.Wait) bool { return w.From <= at && at < b.until(w) })
		if waits && begin < 0 {
			begin = at
		}
		if waits || begin < 0 {
			continue
		}
		left := at - begin
		for _, w := range k.Waits {
			if w.Done >= 0 && b.r.Ops[w.Done].Type == history.Info && w.To+keeps >= begin && w.To <= at {
				left -= keeps
			}
		}
		amiss := b.stalledIn(k, begin, at) ||
			slices.ContainsFunc(b.r.Faults, func(f *trace.Fault) bool {
				return b.concerns(k, f.Target, f.From, f.To+keeps) && f.From <= at && max(f.To+keeps, b.answersAgain(f)) >= begin
			})
		if left > 7500*ms && !amiss {
			n++
		}
		begin = -1
	}
	return n
}

func TestStuckAgrees(t *testing.T) {
	seen := map[bool]int{}
	for range 20 {
		checkAnew(t, func(t *rapid.T) {
			r := waiting(t)
			var f found
			r.stuck(r.named("k"), &f)
			want := brute{r}.stuck()
			if f.certain != want || f.possible > 0 && len(r.stalls) == 0 {
				for _, op := range r.Ops {
					t.Logf("%2d %3d %s %s %s %v", op.Index, (op.Time-origin)/sec, op.Node, op.Type, op.F, op.Fault)
				}
				t.Fatalf("want %d: %+v", want, f.list)
			}
			seen[want > 0]++
		})
	}
	if seen[true] < 100 || seen[false] < 100 {
		t.Errorf("one-sided: %v", seen)
	}
	t.Logf("%v", seen)
}
