package checker

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// The definitions of lock-info and wait-limit, each asked of every pair.

// toldOf are the looks at the servers that named somebody who had been told that it was
// given back or was superseded, whose lease was over or whom a look had found gone, or who cannot have had the key, or nobody while who was granted the key
// last was owed it at every instant.
func (b brute) toldOf() (wrong []int, looks int) {
	for i := range b.r.Ops {
		op := &b.r.Ops[i]
		if op.F != history.Holder || op.Error != "" {
			continue
		}
		looks++
		bad := false
		for _, g := range b.r.Grants {
			spans, _ := b.r.Validity(nil, g, 0)
			other := b.r.ByOwner[op.Owner]
			knows := slices.ContainsFunc(b.r.Ops, func(o history.Op) bool { // looks name owners as clients do
				return o.F == history.Holder && o.Key == op.Key && b.r.ByOwner[o.Owner] != nil
			})
			asked := b.asked(op) && b.unknownNode(op.Owner) != g.Node
			has := g.OK < op.Sent && (op.Owner == "" || other != g && (other != nil || knows || asked)) && g.Key.Name == op.Key && !slices.ContainsFunc(b.r.Grants, func(h *trace.Grant) bool {
				return h.Key == g.Key && g.OK < h.OK && h.OK < op.Sent
			})
			for at := op.Sent; at <= op.Time; at += ms / 2 {
				owed := !b.r.Setup.Promise.Leased || b.r.Setup.Promise.Validity != history.Untold || at < g.Sent+int64(b.r.Setup.Lease)
				has = has && owed && slices.ContainsFunc(spans, func(s trace.Span) bool { return s.From <= at && at < s.To })
			}
			given := !b.r.Setup.Promise.Mute && op.Owner == g.Owner && slices.ContainsFunc(b.r.Ops, func(o history.Op) bool {
				return o.Owner == g.Owner && o.F == history.Release && o.Type == history.OK && o.Time < op.Sent
			})
			behind := b.behindUnknown(op, g) || op.Owner == g.Owner && slices.ContainsFunc(b.r.Grants, func(h *trace.Grant) bool {
				return h.Key == g.Key && g.Key.Name == op.Key && g.OK < h.Sent && h.OK < op.Sent
			})
			gone := op.Owner == g.Owner && g.Key.Name == op.Key && !b.unknownBeside(g, op) && !b.openRenewal(g, op) && slices.ContainsFunc(b.r.Ops, func(o history.Op) bool {
				h := b.r.ByOwner[o.Owner]
				found := o.Owner == "" || h != nil && h != g && h.Key == g.Key && h.OK >= g.Sent || h == nil && b.asked(&o) && b.unknownNode(o.Owner) != g.Node
				return o.F == history.Holder && o.Error == "" && o.Key == op.Key && g.OK < o.Sent && o.Time < op.Sent && found && !b.renewed(g, o.Sent, op.Time)
			})
			over := op.Owner == g.Owner && g.Key.Name == op.Key && b.r.Setup.Promise.Leased && !b.unknownBeside(g, op) &&
				b.toldUntil(g)+int64(b.r.Setup.Promise.Bound)+ms < op.Sent
			bad = bad || has || given || behind || gone || over
		}
		if bad || b.phantom(op) {
			wrong = append(wrong, i)
		}
	}
	return wrong, looks
}

// phantom: who is named was never granted that key, or asked for it later, and none who may have been it asked for it by then and
// was not answered. Who was granted it is told by its name; any other name may be anybody's.
func (b brute) phantom(look *history.Op) bool {
	g, knows := b.r.ByOwner[look.Owner], false
	for i := range b.r.Ops {
		op := &b.r.Ops[i]
		knows = knows || op.F == history.Holder && op.Key == look.Key && b.r.ByOwner[op.Owner] != nil
	}
	if b.asked(look) || b.mayBeOpen(look, g) || g == nil && b.mayLinger(look) {
		return false
	}
	return look.Owner != "" && (g == nil && knows || g != nil && (g.Key.Name != look.Key || g.Invoked > look.Time))
}

// unknowns are acquires of clients, also of those that are granted the key, which fail, are of unknown outcome or have no answer,
// and names that a look may find: those that they asked as, of one client and of nobody.
func (b *builder) unknowns(number func(string, int, int) int64, unnamed bool) []string {
	names := []string{"somebody else", "client-1/before"}
	for n := range number("unknown", 0, 2) {
		asked, key, node := number("asked", 0, 90)*ms, b.setup.Keys[number("key", 0, 4)/4], fmt.Sprint("client-", number("client", 1, 4))
		other, owner := fmt.Sprint("process of unknown ", n), fmt.Sprint(node, "/unknown-", n)
		if unnamed {
			owner = fmt.Sprint("unknown-", n)
		}
		names = append(names, owner)
		says := number("says", 0, 3) > 0
		op := b.op(asked, other, history.Invoke, history.Acquire, key)
		op.Node = node
		if outcome := number("outcome", 0, 4); outcome > 0 {
			op = b.op(asked+number("took", 0, 20)*ms, other, []history.Type{history.Info, history.Info, history.Info, history.Fail}[outcome-1], history.Acquire, key)
			op.Node = node
		}
		if says && op.Type != history.Fail {
			op.Owner = owner
		}
	}
	return names
}

func TestLockInfoAgrees(t *testing.T) {
	bothWays(t, 10, func(t *rapid.T) bool {
		b := newBuilder().kind(history.Leader)
		number := func(name string, least, most int) int64 { return int64(rapid.IntRange(least, most).Draw(t, name)) }
		b.setup.Lease, b.setup.Keys = 40e6, []string{"k", "l"}
		b.setup.Promise.Mute = number("mute", 0, 4) == 0
		untold := number("untold", 0, 2) == 0
		if untold {
			b.setup.Promise.Validity = history.Untold
		}
		b.setup.Promise.Leased = number("leased", 0, 4) > 0
		b.setup.Promise.Bound = time.Duration(number("bound", 0, 1) * 5 * ms)
		unnamed := number("unnamed", 0, 3) == 0
		var helds []*held
		at := int64(0)
		for n := range number("grants", 0, 3) {
			from := at + number("from", 1, 9)*ms
			at = from + number("until", 1, 9)*ms
			h := b.grant(from, at, fmt.Sprintf("client-%d", n+1), b.setup.Keys[number("key", 0, 4)/4], n+1)
			if unnamed && number("plain", 0, 1) == 0 {
				h.owner = fmt.Sprint("owner-", n)
				b.ops[len(b.ops)-1].Owner = h.owner
			}
			if at += number("holds", 1, 30) * ms; number("renews", 0, 2) == 0 {
				b.does(at, h, history.Extend, []history.Type{history.OK, history.OK, history.Info}[number("renewed", 0, 2)])
				at += number("after", 2, 30) * ms
			}
			if end := number("end", 0, 4); end > 0 {
				b.does(at, h, history.Release, []history.Type{history.OK, history.OK, history.OK, history.Info}[end-1])
				at += ms
			}
			helds = append(helds, h)
		}
		names := b.unknowns(number, unnamed)
		for i := range b.ops {
			if untold {
				b.ops[i].Deadline = 0
			}
		}
		for range number("looks", 0, 5) {
			sent := number("sent", 0, 90) * ms
			op := b.op(sent+number("answer", 0, 12)*ms, "server", history.Note, history.Holder, b.setup.Keys[number("key", 0, 4)/4])
			op.Sent = origin + sent
			switch who := number("who", 0, 6); {
			case who < 3 && int(who) < len(helds):
				op.Owner = helds[who].owner
			case who > 2 && who < 6:
				op.Owner = names[number("name", 0, int(len(names))-1)]
			}
			if number("failed", 0, 6) == 0 {
				op.Error = "not reached"
			}
		}
		r := newRun(b.done())
		want, looks := brute{r}.toldOf()
		o := lockInfo(r)
		var got []int
		for _, v := range o.found.list {
			look := -1 // the last of those that it names
			for _, i := range v.Operations {
				if r.Ops[i].F == history.Holder {
					look = i
				}
			}
			got = append(got, look)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) || (o.verdict == NA) != (looks == 0) || !strings.Contains(o.summary, fmt.Sprintf("%d of %d look", len(want), looks)) {
			for _, op := range r.Ops {
				t.Logf("%d %d %s %s %s %s own=%s sent=%d", op.Index, (op.Time-origin)/ms, op.Node, op.Type, op.F, op.Key, op.Owner, (op.Sent-origin)/ms)
			}
			t.Fatalf("%v, want %v: %s", got, want, o.summary)
		}
		return len(want) > 0
	})
}

// Who waits for longer than it was told to, and than the lock's bound and a quarter of a
// lease allow, without a fault.
func TestWaitLimitAgrees(t *testing.T) {
	bothWays(t, 40, func(t *rapid.T) bool {
		b := newBuilder().kind(history.Tried)
		number := func(name string, least, most int) int64 { return int64(rapid.IntRange(least, most).Draw(t, name)) }
		b.setup.Lease, b.setup.Promise.Bound, b.setup.Promise.NoLimit = 200e6, 5e6, number("no limit", 0, 3) == 0
		b.setup.Servers = []string{"server-1"}
		for n := range number("clients", 1, 4) {
			node, at := fmt.Sprintf("client-%d", n+1), number("starts", 0, 50)*4*ms
			for range number("attempts", 1, 3) {
				what := []history.F{history.Acquire, history.Acquire, history.Try}[number("what", 0, 2)]
				op := b.op(at, node, history.Invoke, what, "k")
				if what == history.Acquire && number("limited", 0, 3) > 0 {
					op.Limit = number("limit", 0, 10) * 4 * ms
				}
				if at += number("took", 1, 40) * 4 * ms; number("never", 0, 6) == 0 {
					break
				}
				b.op(at, node, history.Fail, what, "k")
				at += ms
			}
		}
		if from := number("fault", 0, 150) * 4 * ms; from < 400*ms {
			b.fault(from, from+ms, 1, "pause", "server-1")
		}
		killed, dies := fmt.Sprintf("client-%d", number("killed", 1, 6)), number("dies", 0, 150)*4*ms+ms
		b.ops = slices.DeleteFunc(b.ops, func(op history.Op) bool { return op.Node == killed && op.Time >= origin+dies })
		if number("kill", 0, 1) > 0 {
			b.fault(dies, dies, 2, "kill", killed)
		} else {
			killed = ""
		}
		r := newRun(b.done())
		var want, judged, longest = []int{}, 0, int64(0)
		all := 0
		for _, k := range r.keys {
			for _, w := range k.Waits {
				op := &r.Ops[w.Invoke]
				to := w.To
				if w.Done < 0 {
					to = r.End
				}
				if op.Node == killed {
					to = min(to, origin+dies) // a dead client waits no more
				}
				if op.F == history.Acquire && (op.Limit == 0 || r.Setup.Promise.NoLimit) {
					continue
				}
				late := to - w.From - op.Limit
				pause := func(f *trace.Fault) bool { return f.Kind == "pause" }
				if (brute{r}).faultAt(w.From, to, pause) { // then only what goes on before it, or behind it
					f := r.Faults[slices.IndexFunc(r.Faults, pause)]
					at, fades := f.From, brute{r}.fades(f)
					if late = max(min(to, at)-w.From-op.Limit, to-max(w.From+op.Limit, fades)); late <= 55*ms {
						continue
					}
				}
				if w.Done >= 0 {
					judged++
					longest = max(longest, late)
				}
				if w.Done >= 0 || late > 55*ms {
					all++
				}
				if late > 55*ms {
					want = append(want, w.Invoke)
				}
			}
		}
		o := waitLimit(r)
		got := []int{}
		for _, v := range o.found.list {
			got = append(got, v.Operations[slices.IndexFunc(v.Operations, func(i int) bool { return r.Ops[i].Type == history.Invoke })])
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) || (o.verdict == Holds) != (judged > 0) || !strings.Contains(o.summary, fmt.Sprintf("%d of %d attempt", len(want), all)) ||
			judged > 0 && !strings.Contains(o.reason, "at most "+length(longest)) {
			t.Fatalf("%v, want %v of %d: %s; %s", got, want, all, o.summary, o.reason)
		}
		return len(want) > 0
	})
}
