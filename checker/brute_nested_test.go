package checker

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// nester is a sound reentrant lock, whose answers may be lost, and its clients.
type nester struct {
	*builder
	t             *rapid.T
	at            int64
	holder, owner string
	token         int64
	depth         int32
	until         int64 // the end of the lease
	clients       map[string]*taker
}

// taker is what a client believes.
type taker struct {
	h      *held
	holds  int
	unsure bool // an answer was lost: it only gives back
	gone   bool // it does not know that it holds
}

func (n *nester) number(name string, least, most int) int {
	return rapid.IntRange(least, most).Draw(n.t, name)
}

// soundly draws a history of such a lock, in which nobody writes but who holds it.
func soundly(t *rapid.T) (history.Setup, []history.Op) {
	n := &nester{builder: newBuilder().kind(history.Reentrant), t: t, clients: map[string]*taker{}}
	for range n.number("steps", 1, 20) {
		if n.at += int64(n.number("later", 1, 8)) * ms; n.number("long", 0, 19) == 0 {
			n.at += 1100 * ms
		}
		if n.at > n.until {
			n.holder, n.depth = "", 0
		}
		node := rapid.SampledFrom(n.setup.Clients).Draw(t, "client")
		if n.clients[node] == nil {
			n.clients[node] = &taker{}
		}
		c, what := n.clients[node], n.number("what", 0, 5)
		switch {
		case c.gone:
		case what < 3 && !c.unsure:
			n.takes(node, c, n.number("lost", 0, 7) == 0, n.number("happened", 0, 1) == 0)
		case what == 3 && c.h != nil && !c.unsure && n.owner == c.h.owner && n.depth > 0 && n.at+5*ms < n.until:
			n.read(n.at, c.h)
			n.write(n.at+ms, c.h)
		case c.h != nil:
			n.gives(node, c, n.number("lost", 0, 5) == 0, n.number("happened", 0, 1) == 0)
		}
		n.at += 2 * ms
	}
	return n.done()
}

func (n *nester) takes(node string, c *taker, lost, happened bool) {
	n.op(n.at, node, history.Invoke, history.Acquire, "k")
	free := n.holder == "" || n.holder == node
	if happened = (happened || !lost) && free; happened {
		if n.holder == "" {
			n.owners++
			n.token++
			n.owner = fmt.Sprintf("%s/%d", node, n.owners)
		}
		n.holder, n.until = node, n.at+sec
		n.depth++
	}
	switch {
	case lost:
		n.op(n.at+ms, node, history.Info, history.Acquire, "k")
		c.unsure, c.gone = c.h != nil, happened && n.depth == 1
	case !happened:
		n.op(n.at+ms, node, history.Fail, history.Acquire, "k").Busy = true
	default:
		ok := n.op(n.at+ms, node, history.OK, history.Acquire, "k")
		if n.depth == 1 || c.h == nil { // what it took without knowing it has still
			c.h, c.holds = &held{node: node, key: "k", owner: n.owner, token: n.token}, 0
		}
		n.claim(ok, c.h, n.at)
		ok.Depth = n.depth
		c.holds++
	}
}

func (n *nester) gives(node string, c *taker, lost, happened bool) {
	h := c.h
	n.op(n.at, node, history.Invoke, history.Release, "k").Owner = h.owner
	mine := n.holder == node && n.owner == h.owner
	if (happened || !lost) && mine {
		if n.depth--; n.depth == 0 {
			n.holder = ""
		}
	}
	c.holds--
	answer := history.OK
	switch {
	case lost:
		answer, c.unsure = history.Info, true
	case !mine:
		answer, c.holds = history.Fail, 0
	}
	done := n.op(n.at+ms, node, answer, history.Release, "k")
	if done.Owner = h.owner; answer == history.OK {
		done.Depth = n.depth
	}
	if c.holds == 0 {
		*c = taker{}
	}
}

// A sound lock breaks no promise, whichever of its answers are lost.
func TestSoundReentrantLock(t *testing.T) {
	for range 20 {
		checkAnew(t, func(t *rapid.T) {
			setup, ops := soundly(t)
			if err := history.Validate(setup, ops); err != nil {
				t.Fatal(err)
			}
			for _, p := range Judge(setup, ops).Properties {
				if p.Verdict == Violated {
					t.Fatalf("%s: %s %+v", p.Name, p.Reason, p.Violations)
				}
			}
		})
	}
}

// strangely draws what a reentrant lock that may be wrong in anything told its holders,
// none of whom asks for a key that it holds and is refused it.
func strangely(t *rapid.T) *run {
	b := newBuilder().kind(history.Reentrant)
	number := func(name string, least, most int) int { return rapid.IntRange(least, most).Draw(t, name) }
	if b.setup.Lease = 40e6; number("untold", 0, 3) == 0 {
		b.setup.Promise.Validity = history.Untold
	}
	for n := range number("clients", 1, 3) {
		node, at := fmt.Sprintf("client-%d", n+1), int64(0)
		step := func() int64 { at += int64(number("step", 1, 8)) * 2 * ms; return at }
		h := b.grantOf(step(), step(), node, int64(n+1))
		if b.ops[len(b.ops)-1].Depth = 1; number("late", 0, 9) == 0 { // the answer comes after its lease
			b.ops[len(b.ops)-1].Deadline = b.ops[len(b.ops)-1].Mono
		}
		for depth := 1; depth > 0 && number("goes on", 0, 9) > 0; {
			told := depth + map[int]int{0: 1, 1: -1}[number("wrong", 0, 19)]
			switch number("what", 0, 11) {
			case 0, 1, 2, 3:
				depth++
				b.again(step(), h, int32(max(2, told+1)), h.token+int64(number("another token", 0, 9)/9))
			case 4:
				b.op(step(), node, history.Invoke, history.Acquire, "k")
				b.op(step(), node, history.Info, history.Acquire, "k")
			case 5:
				depth--
				b.does(step(), h, history.Release, history.Info)
			case 6:
				b.does(step(), h, history.Extend, history.OK)
			case 7:
				depth--
				b.does(step(), h, history.Release, history.Fail)
			default:
				depth--
				b.back(step(), h, int32(max(0, told-1)))
			}
			at += 2 * ms
			if last := b.ops[len(b.ops)-1]; depth == 0 && (last.Type == history.Info || last.Depth > 0) && number("holds on", 0, 2) > 0 {
				depth++
				b.again(step(), h, int32(number("told", 2, 3)), h.token)
				at += 2 * ms
			}
		}
	}
	if b.setup.Promise.Validity == history.Untold {
		for i := range b.ops {
			b.ops[i].Deadline = 0
		}
	}
	setup, ops := b.done()
	if err := history.Validate(setup, ops); err != nil {
		t.Fatal(err)
	}
	return newRun(setup, ops)
}

// misled is what holders were told wrongly, and since when others may not be granted
// what a grant has, as it has given back an inner hold.
func (b brute) misled() (wrong []string, given map[*trace.Grant]int) {
	given = map[*trace.Grant]int{}
	for _, g := range b.r.Grants {
		deep, want, sure, lost, left := 1, 1, true, false, -1
		taken, returned, asked := 0, 0, 0 // unknown acquires and releases, and the invoke of each answer
		for i := g.Op + 1; i < len(b.r.Ops); i++ {
			op := &b.r.Ops[i]
			if op.F == history.Acquire && op.Type == history.Invoke && op.Node == g.Node {
				end := slices.IndexFunc(b.r.Ops[i+1:], func(o history.Op) bool { return o.Process == op.Process })
				if b.r.Ops[i+1+end].Type == history.Info {
					taken++
					sure = sure && op.Process != g.Process
				}
			}
			if op.Node == g.Node && op.Type == history.Invoke {
				asked = i
			}
			what := "depth "
			switch {
			case op.Owner != g.Owner || op.Type == history.Invoke:
				continue
			case op.F == history.Acquire:
				if op.Token != g.Token {
					wrong = append(wrong, fmt.Sprint("token ", i))
				}
				if deep++; deep == 1 { // it holds on
					deep = int(op.Depth)
					if left >= 0 {
						wrong[left] = strings.Replace(wrong[left], "left", "depth", 1)
					}
				}
				want++
			case op.F != history.Release:
				continue
			case op.Type == history.Fail:
				if lost = true; deep == 1 {
					deep = 0
				}
				continue
			case op.Type == history.Info:
				deep, sure, returned = deep-1, false, returned+1
				continue
			default:
				if deep > 1 && given[g] == 0 {
					given[g] = i
				}
				if deep--; deep == 0 {
					what = "left "
				}
				want--
			}
			if sure && int(op.Depth) != want && !(lost && what == "left ") {
				if what == "left " {
					left = len(wrong)
				}
				wrong = append(wrong, fmt.Sprint(what, i))
			}
			had := b.stillHas(g, b.r.Ops[asked].Time) && b.stillHas(g, op.Time-1)
			if told := int(op.Depth); !sure && (told > want+taken || had && told < want-returned) {
				wrong = append(wrong, fmt.Sprint("depth ", i))
			}
		}
	}
	return wrong, given
}

// stillHas says whether the lease of g was valid at a time, or may be by what was asked for.
func (b brute) stillHas(g *trace.Grant, at int64) bool {
	spans, _ := b.r.Validity(nil, g, 0)
	untold := b.r.Setup.Promise.Validity == history.Untold && at >= g.Sent+int64(b.r.Setup.Lease)
	return !untold && slices.ContainsFunc(spans, func(s trace.Span) bool { return s.From <= at && at < s.To })
}

func TestReentrancyAgrees(t *testing.T) {
	bothWays(t, 10, func(t *rapid.T) bool {
		r := strangely(t)
		want, given := brute{r}.misled()
		has := brute{r}.stillHas
		for _, h := range r.Grants {
			if slices.ContainsFunc(r.Grants, func(g *trace.Grant) bool {
				return g != h && given[g] > 0 && r.Ops[given[g]].Time < h.OK && has(g, h.OK) && has(h, h.OK)
			}) {
				want = append(want, fmt.Sprint("early ", h.Op))
			}
		}
		var got []string
		for _, v := range reentrancy(r).found.list {
			i := slices.IndexFunc(r.Ops, func(op history.Op) bool {
				return op.Time == v.At && op.Type != history.Invoke && slices.Contains(v.Operations, op.Index)
			})
			for part, what := range map[string]string{"and was told token": "token ", "and it holds it": "depth ", "for the last time": "left ", "before the last release": "early "} {
				if strings.Contains(v.Message, part) {
					got = append(got, fmt.Sprint(what, i))
				}
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			for _, op := range r.Ops {
				t.Logf("%d %d %s p%d %s %s own=%s tok=%d depth=%d", op.Index, (op.Time-origin)/ms, op.Node, op.Process, op.Type, op.F, op.Owner, op.Token, op.Depth)
			}
			t.Fatalf("%v, want %v", got, want)
		}
		return len(want) > 0
	})
}
