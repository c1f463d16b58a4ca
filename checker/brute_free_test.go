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

// The definition of free-lock, asked of every acquire and every other one.

// onOwnKeys draws clients that mostly keep to keys of their own, and faults.
func onOwnKeys(t *rapid.T) *run {
	b := newBuilder().kind(history.Alone)
	b.setup.Keys, b.setup.Servers = []string{"k", "l"}, []string{"server-1"}
	b.setup.Promise.Session = rapid.IntRange(0, 2).Draw(t, "session") == 0
	b.setup.Promise.Mute = rapid.IntRange(0, 9).Draw(t, "mute") == 0
	if b.setup.Promise.Bound = 7e7; rapid.IntRange(0, 9).Draw(t, "quorum") == 0 {
		b.setup.Promise.DriftFactor = 0.01
	}
	number := func(name string, most int64) int64 { return rapid.Int64Range(0, most).Draw(t, name) }
	last := int64(0)
	for n := range 3 {
		node, at := fmt.Sprintf("client-%d", n+1), number("starts", 9)*sec
		step := func() int64 {
			at += rapid.SampledFrom([]int64{ms, 3 * ms, 200 * ms, 750 * ms, 751 * ms, 2 * sec}).Draw(t, "step")
			return at
		}
		for range number("attempts", 4) {
			key := b.setup.Keys[n%2]
			if number("strays", 7) == 0 {
				key = b.setup.Keys[number("key", 1)]
			}
			switch number("attempt", 9) {
			case 0:
				b.op(step(), node, history.Invoke, history.Acquire, key)
				b.op(step(), node, rapid.SampledFrom([]history.Type{history.Fail, history.Info}).Draw(t, "ends"), history.Acquire, key)
			case 1:
				b.op(step(), node, history.Invoke, history.Try, key)
				b.op(step(), node, history.Fail, history.Try, key)
			default:
				h := b.grant(step(), step(), node, key, int64(len(b.ops)+1))
				if end := rapid.SampledFrom([]history.Type{history.OK, history.OK, history.OK, history.OK, history.Fail, history.Info, ""}).Draw(t, "end"); end != "" {
					b.does(step(), h, history.Release, end)
					at += ms
				}
			}
		}
		if number("is left waiting", 5) == 0 {
			b.op(step(), node, history.Invoke, history.Acquire, b.setup.Keys[n%2])
		}
		if number("is asked to end", 3) == 0 {
			b.op(step(), node, history.Note, history.Stop, "")
		}
		last = max(last, at)
	}
	for i := range number("faults", 2) {
		from := number("from", 15)*sec/3 + 1
		target := rapid.SampledFrom([]string{"client-1", "server-1"}).Draw(t, "target")
		switch kind := rapid.SampledFrom([]string{"pause", "kill", "latency", "latency"}).Draw(t, "kind"); kind {
		case "latency":
			b.slow(from, from+sec/3, int(i)+1, target, number("slow", 3)*16*ms)
		default:
			b.fault(from, from+sec/3, int(i)+1, kind, target)
		}
	}
	if number("final", 3) == 0 {
		b.op(number("final at", 30)*sec/3+2, "runner", history.Note, history.Final, "")
	}
	setup, ops := b.done()
	return newRun(setup, ops)
}

// had says whether attempt o may have had its key, or stood in its queue, at a time of
// [from, to].
func (b brute) had(o trace.Wait, from, to int64) bool {
	end := int64(trace.Forever)
	session := b.sessionEnds(b.r.Ops[o.Invoke].Node, o.From)
	owner, aftermath := "", int64(b.r.Setup.Lease)+int64(b.r.Setup.Promise.Bound)
	if o.Done < 0 {
		end = session
	}
	if o.Done >= 0 {
		switch done := &b.r.Ops[o.Done]; done.Type {
		case history.Fail:
			end = done.Time
		case history.Info:
			if end = b.delivered(o, done.Time+aftermath); b.r.Setup.Promise.Session || !b.r.Setup.Promise.Leased {
				end = session
			}
		case history.OK:
			owner = done.Owner
		}
	}
	for _, op := range b.r.Ops { // what was never given back ends with its lease
		if owner != "" && op.Owner == owner {
			if end = op.Time + aftermath; b.r.Setup.Promise.Session || !b.r.Setup.Promise.Leased {
				end = session
			}
		}
	}
	for _, op := range b.r.Ops {
		if owner != "" && op.F == history.Release && op.Owner == owner && (op.Type == history.OK || op.Type == history.Fail) {
			if end = op.Time; op.Type == history.Fail && b.endsByTime(b.r.ByOwner[owner], end) {
				end = lastHeld(b.r, b.r.ByOwner[owner], aftermath)
			}
		}
	}
	for _, h := range b.r.Grants { // who was granted the key behind it found it free
		if g := b.r.ByOwner[owner]; owner != "" && h.Key == g.Key && (h.Sent > g.OK || h.Token > g.Token && b.rise(g.Key)) {
			end = min(end, h.OK)
		}
	}
	if p := b.r.Setup.Promise; end < trace.Forever && p.Mute {
		end += int64(b.r.Setup.Lease) + int64(p.Bound)
	} else if end < trace.Forever && p.DriftFactor > 0 {
		end += int64(p.Bound)
	}
	return o.From <= to && from <= end
}

// rise says that the tokens of a key tell the order of its grants: each has one of its own, and none goes back.
func (b brute) rise(k *trace.Key) bool {
	for _, g := range b.r.Grants {
		for _, h := range b.r.Grants {
			if g.Key == k && h.Key == k && g != h && (g.Token == 0 || g.Token == h.Token || h.Sent > g.OK && h.Token < g.Token) {
				return false
			}
		}
	}
	return true
}

// endsByTime says that the service had ended a lease by its time before it was asked: no session renews it, no majority answers for
// the rest, and neither its servers nor another request of the client may have made it longer.
func (b brute) endsByTime(g *trace.Grant, by int64) bool {
	unknown := slices.ContainsFunc(b.r.waits(), func(w trace.Wait) bool {
		own := b.r.Ops[w.Invoke].Node == g.Node && b.r.Ops[w.Invoke].Key == g.Key.Name
		return own && w.Done >= 0 && b.r.Ops[w.Done].Type == history.Info && w.From <= by && w.To+b.r.aftermath() >= g.Invoked
	})
	p := b.r.Setup.Promise
	return p.Leased && !p.Session && p.DriftFactor == 0 && !unknown &&
		!b.faultAt(g.Sent, by, func(f *trace.Fault) bool { return f.Target == "server-1" })
}

// delivered is until when a request that may go on until an end may reach the service, as faults hold it.
func (b brute) delivered(o trace.Wait, end int64) int64 {
	node := b.r.Ops[o.Invoke].Node
	for again := true; again; {
		again = false
		for _, f := range b.r.Faults {
			holds := f.Begin >= 0 && (!slices.Contains(b.r.Setup.Clients, f.Target) || f.Target == node && f.Kind != "kill")
			if fades := b.fades(f); holds && f.From <= end && fades >= o.From && fades > end {
				end, again = fades, true
			}
		}
	}
	return end
}

// sessionEnds is when the service has ended what a node had at a time, as the node was killed.
func (b brute) sessionEnds(node string, from int64) int64 {
	aftermath := int64(b.r.Setup.Lease) + int64(b.r.Setup.Promise.Bound)
	var death *trace.Fault
	for _, f := range b.r.Faults {
		if f.Kind == "kill" && f.Target == node && f.From >= from && (death == nil || f.From < death.From) {
			death = f
		}
	}
	if p := b.r.Setup.Promise; death == nil || death.Missed || !death.Observed || !p.Leased && !p.Session {
		return trace.Forever
	}
	seen := int64(trace.Forever)
	for _, op := range b.r.Ops {
		if op.Fault != nil && op.Fault.Phase == history.Observed && op.Fault.ID == death.ID {
			seen = min(seen, op.Time)
		}
	}
	end, again := seen+aftermath, true
	for again {
		again = false
		for _, f := range b.r.Faults {
			faded := f.To + aftermath
			if f.Target == "server-1" && f.From <= end && faded >= death.From && end < faded+aftermath {
				end, again = faded+aftermath, true
			}
		}
	}
	for _, f := range b.r.Faults {
		if f != death && f.Target == node && f.From <= end && f.To+aftermath >= death.From {
			return trace.Forever
		}
	}
	return end
}

// served is when the service has answered somebody after t; forever: never.
func (b brute) served(t int64) int64 {
	for _, op := range b.r.Ops {
		says := op.Type == history.OK && slices.Contains([]history.F{history.Acquire, history.Release}, op.F) || op.Type == history.Fail && op.F == history.Release
		if op.Time >= t && (says || op.Busy) {
			return min(op.Time, t+2*int64(b.r.Setup.Lease)+3*sec+int64(b.r.Setup.Promise.Bound))
		}
	}
	return min(b.r.End, t+2*int64(b.r.Setup.Lease)+3*sec+int64(b.r.Setup.Promise.Bound))
}

// leftBehind are the acquires that nobody and nothing stood in the way of for three
// quarters of a lease, and that were answered after that or refused.
func (b brute) leftBehind() (invokes []int) {
	final := slices.IndexFunc(b.r.Ops, func(op history.Op) bool { return op.F == history.Final })
	for _, k := range b.r.keys {
		for i, w := range k.Waits {
			due := w.From + 750*ms
			if b.until(w) <= due || b.r.Ops[w.Invoke].F != history.Acquire || final >= 0 && final < w.Invoke {
				continue
			}
			free := true
			for j, o := range k.Waits {
				free = free && (i == j || !b.had(o, w.From, due))
			}
			for _, f := range b.r.Faults {
				over := f.To
				if f.Kind == "kill" && f.Target == "server-1" {
					over = max(over, b.served(f.To))
				}
				slight := f.Kind == "latency" && f.Slow > 0 && f.Slow < 32*ms
				free = free && (slight || !b.hinders(f, b.r.Ops[w.Invoke].Node) || f.From > due || over+sec+70*ms < w.From)
			}
			if free {
				invokes = append(invokes, w.Invoke)
			}
		}
	}
	return invokes
}

func TestFreeLockAgrees(t *testing.T) {
	useAgrees(t, onOwnKeys, func(r *run) []int { return brute{r}.leftBehind() }, freeLock)
}

// refusedFreely are the refusals, as by another who has the key, that no other attempt can explain.
func (b brute) refusedFreely() (invokes []int) {
	for _, k := range b.r.keys {
		for i, w := range k.Waits {
			if w.Done < 0 || !b.r.Ops[w.Done].Busy {
				continue
			}
			met := false
			for j, o := range k.Waits {
				met = met || i != j && b.had(o, w.From, w.To)
			}
			if !met {
				invokes = append(invokes, w.Invoke)
			}
		}
	}
	return invokes
}

// killedClients draws a client that asks, may be granted the key, and is killed, faults beside, and
// another that is refused all the time.
func killedClients(t *rapid.T) *run {
	b := newBuilder().kind(history.Tried)
	number := func(name string, most int64) int64 { return rapid.Int64Range(0, most).Draw(t, name) }
	b.setup.Servers, b.setup.Promise.Bound = []string{"server-1"}, time.Duration(number("bound", 3))*70*time.Millisecond
	b.setup.Promise.Session, b.setup.Promise.Leased = number("session", 4) > 0, number("leased", 4) > 0
	dies := 2*sec + number("dies", 3)*sec/2
	switch number("asks", 3) {
	case 0:
		b.op(number("asked", 1)*sec, "client-1", history.Invoke, history.Acquire, "k") // it never returns
	case 1:
		b.op(0, "client-1", history.Invoke, history.Try, "k")
		b.op(sec, "client-1", history.Info, history.Try, "k")
	case 2:
		b.grant(0, ms, "client-1", "k", 1)
	default:
		b.does(sec, b.grant(0, ms, "client-1", "k", 1), history.Release, history.Info)
	}
	if number("is killed", 5) > 0 {
		b.fault(dies, dies+number("stays away", 4)*sec/4, 1, "kill", "client-1")
		if number("unseen", 5) == 0 {
			b.ops[len(b.ops)-2].Fault.Phase = history.Heal
		}
	}
	for i := range number("others", 2) {
		from := number("hits", 24)*sec/4 + 1
		b.fault(from, from+number("lasts", 4)*sec/4, int(i)+2, []string{"pause", "latency"}[number("kind", 1)], []string{"server-1", "client-1", "client-2"}[number("at", 2)])
	}
	for at := 2100 * ms; at < 9*sec; at += 370 * ms {
		b.refuse(at, at+ms, "client-2", history.Try, 0)
	}
	return newRun(b.done())
}

// TestRefusalAgrees: what a session had is over as its client was killed, and a refusal then is wrong.
func TestRefusalAgrees(t *testing.T) {
	useAgrees(t, killedClients, func(r *run) []int { return brute{r}.refusedFreely() }, honestRefusal)
}

// Whatever a history of own keys says, it is judged.
func TestFreeLockOfGarbage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		setup, ops := garbage(t)
		setup.Kind = history.Alone
		if text := fmt.Sprintf("%+v", Judge(setup, ops)); strings.Contains(text, "bug of dlmtest") {
			t.Fatal(text)
		}
	})
}
