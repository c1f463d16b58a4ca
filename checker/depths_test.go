package checker

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
)

// crossers is a lock that is reentrant by process, the threads of its one client, and another client. Each request takes effect
// between its invoke and its answer, and those of several threads cross.
type crossers struct {
	*builder
	t            *rapid.T
	at           int64
	holder       string
	owner        string
	token        int64
	depth        int32
	firstTold    bool // the first of its holds was answered
	all          []*thread
	nextProcess  int
	losesAnswers bool
}

type thread struct {
	node    string
	process int
	owner   string // of what it holds; "": nothing
	asked   history.F
	done    bool // its request has taken effect
	answer  history.Op
}

// crossing draws a history of such a lock.
func crossing(t *rapid.T, losesAnswers bool) (history.Setup, []history.Op) {
	s := &crossers{builder: newBuilder().kind(history.Reentrant), t: t, losesAnswers: losesAnswers}
	s.setup.Promise.Reentry = history.ByProcess
	for _, node := range []string{"client-1", "client-1", "client-1", "client-2"} {
		s.nextProcess++
		s.all = append(s.all, &thread{node: node, process: s.nextProcess})
	}
	for range rapid.IntRange(4, 40).Draw(t, "steps") {
		s.at += ms
		s.step(rapid.SampledFrom(s.all).Draw(t, "thread"))
	}
	for asked := true; asked && !losesAnswers; { // all are answered in the end
		asked = false
		for _, th := range s.all {
			if th.asked != "" {
				s.at, asked = s.at+ms, true
				s.step(th)
			}
		}
	}
	return s.done()
}

func (s *crossers) record(th *thread, op history.Op) {
	op.Time, op.Mono, op.Node, op.Process, op.F, op.Key = origin+s.at, origin+s.at+ahead, th.node, th.process, th.asked, "k"
	s.ops = append(s.ops, op)
}

func (s *crossers) step(th *thread) {
	switch {
	case th.asked == "":
		if th.asked = history.Acquire; th.owner != "" && rapid.IntRange(0, 2).Draw(s.t, "deeper") > 0 {
			th.asked = history.Release
		}
		th.done = false
		owner := ""
		if th.asked == history.Release {
			owner = th.owner
		}
		s.record(th, history.Op{Type: history.Invoke, Owner: owner})
	case !th.done:
		s.takesEffect(th)
	case s.losesAnswers && th.answer.Depth != 1 && rapid.IntRange(0, 7).Draw(s.t, "lost") == 0:
		s.record(th, history.Op{Type: history.Info, Owner: th.answer.Owner})
		s.nextProcess++
		*th = thread{node: th.node, process: s.nextProcess}
	default:
		s.record(th, th.answer)
		switch {
		case th.answer.Type != history.OK:
		case th.asked == history.Release:
			th.owner = ""
		default:
			s.firstTold = s.firstTold || th.answer.Depth == 1
			th.owner = th.answer.Owner
		}
		th.asked = ""
	}
}

func (s *crossers) takesEffect(th *thread) {
	th.done = true
	if th.asked == history.Release {
		if s.depth--; s.depth == 0 {
			s.holder = ""
		}
		th.answer = history.Op{Type: history.OK, Owner: th.owner, Depth: s.depth}
		return
	}
	if s.holder != "" && s.holder != th.node {
		th.answer = history.Op{Type: history.Fail, Busy: true}
		return
	}
	if s.depth++; s.depth == 1 {
		s.owners++
		s.token++
		s.holder, s.owner, s.firstTold = th.node, fmt.Sprintf("%s/%d", th.node, s.owners), false
	}
	th.answer = history.Op{Type: history.OK, Depth: s.depth}
	s.claim(&th.answer, &held{node: th.node, key: "k", owner: s.owner, token: s.token}, s.at)
}

// Threads of one client may have their answers in another order than that in which they were served: no promise is broken.
func TestThreadsCross(t *testing.T) {
	for _, lost := range []bool{false, true} {
		checkAnew(t, func(t *rapid.T) {
			setup, ops := crossing(t, lost)
			if err := history.Validate(setup, ops); err != nil {
				t.Fatal(err)
			}
			for _, p := range Judge(setup, ops).Properties {
				if p.Verdict == Violated {
					showOps(t, ops)
					t.Fatalf("%s: %s %+v", p.Name, p.Reason, p.Violations)
				}
			}
		})
	}
}

func showOps(t *rapid.T, ops []history.Op) {
	for _, op := range ops {
		t.Logf("%d %d %s p%d %s %s own=%s tok=%d depth=%d", op.Index, (op.Time-origin)/ms, op.Node, op.Process, op.Type, op.F, op.Owner, op.Token, op.Depth)
	}
}

// request is one of those that are served in some order.
type request struct{ from, to, by, told int }

// someOrder says whether one order of requests explains what all were told: each behind those that were answered before it was sent.
func someOrder(left []request, depth int) bool {
	if len(left) == 0 {
		return true
	}
	for i, r := range left {
		first := !slices.ContainsFunc(left, func(o request) bool { return o.to < r.from })
		if first && depth+r.by == r.told && someOrder(slices.Delete(slices.Clone(left), i, i+1), depth+r.by) {
			return true
		}
	}
	return false
}

// A wrong depth is told where no order of the requests explains it, and nowhere else.
func TestDepthsAgree(t *testing.T) {
	bothWays(t, 10, func(t *rapid.T) bool {
		setup, ops := crossing(t, false)
		var told []int
		known := map[string]bool{} // a wrong first answer is of holds that nobody asked for
		for i, op := range ops {
			if op.Type == history.OK && known[op.Owner] && (op.F == history.Release || op.Depth > 1) {
				told = append(told, i)
			}
			known[op.Owner] = known[op.Owner] || op.Type == history.OK
		}
		if len(told) > 0 && rapid.Bool().Draw(t, "wrong") {
			i := rapid.SampledFrom(told).Draw(t, "which")
			least := int32(0)
			if ops[i].F == history.Acquire {
				least = 2
			}
			ops[i].Depth = max(least, ops[i].Depth+rapid.SampledFrom([]int32{-1, 1, 2}).Draw(t, "by"))
		}
		if err := history.Validate(setup, ops); err != nil {
			t.Fatal(err)
		}
		r := newRun(setup, ops)
		n := nested{run: r}
		some := false
		for _, g := range r.Grants {
			if some { // behind a wrong answer nobody knows which grant a hold is of
				break
			}
			var asked []request
			for i, op := range r.Ops {
				from, ended := r.Started(i)
				if !ended || op.Owner != g.Owner || op.Type != history.OK {
					continue
				}
				by := 1
				if op.F == history.Release {
					by = -1
				}
				asked = append(asked, request{from, i, by, int(op.Depth)})
			}
			toldMore := n.Ops[g.Op].Depth > 1 && !g.Whole() && n.heldNothing(g) // than its client had asked for
			want, got := !someOrder(asked, 0), len(n.strays(g)) > 0 || toldMore
			if some = some || want; want != got {
				showOps(t, r.Ops)
				t.Fatalf("%s: %v, want %v; again %v, done %d", g.Owner, n.strays(g), want, g.Nest.Again, g.Done)
			}
		}
		return some
	})
}
