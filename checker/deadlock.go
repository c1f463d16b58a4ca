package checker

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// waitTurn is an instant at which who holds or who waits changes.
type waitTurn struct {
	at     int64
	starts bool
	hold   bool // else a wait
	client string
	key    *keyLog
	op     int // what shows it
	grant  *trace.Grant
	wait   goingOn
}

// goingOn is a wait for which its client has asked several times. unknown are the ends of those of its requests
// of which nobody was told how they ended.
type goingOn struct {
	trace.Wait
	unknown []int64
}

// circle is a time in which clients wait for each other.
type circle struct {
	members  []string
	ops      []int
	waits    []waitTurn // of the members, and for whom
	holds    []waitTurn
	from, to int64
	limit    int64
}

// noDeadlock looks for clients that wait for each other in a circle for longer than a
// lease and the lock's bound: a lease ends by itself, and with it the circle. The lease is the one in force. A client
// waits for one key at a time and a key has one holder, and who was just granted a key
// waits for none. So only who begins to wait can close a circle, and one walk from client to client finds it.
// O(n log n), times the clients in a circle.
func noDeadlock(r *run) outcome {
	d := deadlocks{r: r, waits: map[string]*keyLog{}, holds: map[*keyLog]waitTurn{}, in: map[string]*circle{}, asked: map[string]waitTurn{}}
	for _, t := range r.turns() {
		d.turn(t)
	}
	o := outcome{verdict: Holds, found: d.found,
		reason: fmt.Sprintf("%s, each over within %s: a lease ended it.", nouns.Count(d.seen, "deadlock"), length(d.longest)),
		summary: fmt.Sprintf("%d of %s lasted longer than a lease and the lock's bound, the longest %s.",
			d.found.certain, nouns.Count(d.seen, "deadlock"), length(d.longest)),
	}
	switch {
	case d.seen == 0:
		o.verdict, o.reason = Unknown, "No two clients ever waited for each other."
	case d.seen == d.left:
		o.verdict, o.reason = Unknown, fmt.Sprintf("%s, and each ended within %s as a client gave up, died or was not heard of any more, "+
			"before a lease and the lock's bound were over.",
			nouns.Count(d.seen, "deadlock"), length(d.longest))
	case d.left > 0:
		o.reason = fmt.Sprintf("%s, each over within %s: a lease ended %d, and the clients gave up in the others.",
			nouns.Count(d.seen, "deadlock"), length(d.longest), d.seen-d.left)
	}
	return o
}

// turns are all beginnings and ends of holds and waits in order: of one time ends first, and then holds, as who has
// just been granted a key may wait for the next. A hold ends with its holder's belief, or as soon as somebody else is
// granted the key.
func (r *run) turns() (all []waitTurn) {
	for _, k := range r.keys {
		for i, g := range k.Grants {
			to, op := r.believedUntil(g)
			if i+1 < len(k.Grants) && k.Grants[i+1].OK < to {
				to, op = k.Grants[i+1].OK, k.Grants[i+1].Op
			}
			who := r.client(g.Op)
			if to > g.OK {
				all = append(all, waitTurn{at: g.OK, starts: true, hold: true, client: who, key: k, op: g.Op, grant: g},
					waitTurn{at: to, hold: true, client: who, key: k, op: op, grant: g})
			}
		}
		for _, w := range r.goneOn(k) {
			who := r.client(w.Invoke)
			if w.To > w.From {
				all = append(all, waitTurn{at: w.From, starts: true, client: who, key: k, op: w.Invoke, wait: w},
					waitTurn{at: w.To, client: who, key: k, op: w.Done})
			}
		}
	}
	order := func(t waitTurn) int {
		switch {
		case !t.starts:
			return 0
		case t.hold:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(all, func(a, b waitTurn) int { return cmp.Or(cmp.Compare(a.at, b.at), order(a)-order(b)) })
	return all
}

// goneOn are the waits for a key; who was refused, or was not told how its request ended, and asks again within a
// quarter of a lease waits on. Between two refusals as held by another it may take longer: see joined.
func (r *run) goneOn(k *keyLog) (all []goingOn) {
	last := map[string]int{} // by client
	for _, w := range k.Waits {
		who, apart := r.client(w.Invoke), int64(r.Setup.Lease)/4
		if i, asked := last[who]; asked {
			before := &all[i]
			if r.busy(before.Wait) && r.busy(w) {
				apart = max(apart, r.patience()/2)
			}
			if before.Done >= 0 && r.Ops[before.Done].Type != history.OK && w.From-before.To <= apart {
				if r.Ops[before.Done].Type == history.Info {
					before.unknown = append(before.unknown, before.To)
				}
				before.Done, before.To = w.Done, max(w.To, before.To)
				continue
			}
		}
		last[who] = len(all)
		all = append(all, goingOn{Wait: w})
	}
	return all
}

type deadlocks struct {
	r       *run
	found   found
	waits   map[string]*keyLog   // what each client waits for
	asked   map[string]waitTurn  // since when
	holds   map[*keyLog]waitTurn // who holds a key
	in      map[string]*circle   // the open one of each client
	seen    int
	left    int // of them, those that ended as a client gave up: no lease has ended these
	longest int64
}

func (d *deadlocks) turn(t waitTurn) {
	switch {
	case !t.starts && t.hold:
		if d.holds[t.key].grant == t.grant {
			delete(d.holds, t.key)
			d.broken(t)
		}
	case !t.starts:
		if d.waits[t.client] == t.key {
			delete(d.waits, t.client)
			d.broken(t)
		}
	case t.hold:
		d.holds[t.key] = t
	default:
		d.waits[t.client], d.asked[t.client] = t.key, t
		d.look(t.client, t.at)
	}
}

// broken closes the circle that t was a part of.
func (d *deadlocks) broken(t waitTurn) {
	c := d.in[t.client]
	if c == nil || t.hold && !slices.ContainsFunc(c.members, func(m string) bool { return m != t.client && d.waits[m] == t.key }) {
		return
	}
	if d.gaveUp(c, t) {
		d.left++
	}
	d.close(c, t.at, t.op)
}

// gaveUp says that what breaks a circle is one of its clients, which ends its wait, gives back what it holds, is
// asked to end or dies; or that it was not heard of any more, as those that wait for it were not.
func (d *deadlocks) gaveUp(c *circle, t waitTurn) bool {
	if t.hold && t.op < 0 {
		unheard := func(w waitTurn) bool { return w.key == t.key && w.wait.Done < 0 }
		return t.at >= d.r.End || slices.ContainsFunc(c.waits, unheard)
	}
	if t.hold {
		return t.at >= d.r.End || slices.Contains([]history.F{history.Release, history.Stop, history.Fault}, d.r.Ops[t.op].F)
	}
	return t.op < 0 || d.r.Ops[t.op].Type != history.OK
}

// look follows who waits for whom, from one client, until it comes back to it.
func (d *deadlocks) look(client string, at int64) {
	if d.in[client] != nil {
		return
	}
	c := &circle{from: at, to: trace.Forever}
	for who := client; ; {
		h, held := d.holds[d.waits[who]] // nobody holds what nobody waits for
		if !held || h.client == who || slices.Contains(c.members, who) || d.in[who] != nil {
			return
		}
		c.members = append(c.members, who)
		c.ops = append(c.ops, d.asked[who].op, h.op)
		c.waits, c.holds = append(c.waits, d.asked[who]), append(c.holds, h)
		if who = h.client; who == client {
			break
		}
	}
	for _, m := range c.members {
		d.in[m] = c
	}
}

func (d *deadlocks) close(c *circle, at int64, op int) {
	c.to = min(at, d.r.End) // what is open at the end has lasted so long
	for _, m := range c.members {
		delete(d.in, m)
	}
	lasted := c.to - c.from
	for _, h := range c.holds {
		c.limit = max(c.limit, d.r.leaseIn(h.grant, c.from, c.to)+int64(d.r.Setup.Promise.Bound))
	}
	d.seen++
	d.longest = max(d.longest, lasted)
	if lasted-d.r.mayHaveHad(c) <= c.limit {
		return
	}
	names := slices.Sorted(slices.Values(c.members))
	d.found.add(d.r, Violation{Key: d.r.Ops[c.ops[0]].Key, At: c.from + c.limit, Operations: append(c.ops, op)},
		"%s waited for each other for %s from %s; a lease and the lock's bound are %s.",
		strings.Join(names, ", "), length(lasted), d.r.seconds(c.from), length(c.limit))
}
