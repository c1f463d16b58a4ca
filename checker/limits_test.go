package checker

import (
	"slices"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// Properties at the very instant at which something begins or ends to be one: a lease
// of 1 s and a bound of 0.5 s, so an aftermath of 1.5 s.

type limit struct {
	name   string
	what   func(*builder)
	want   Verdict
	reason string // a part of it
}

func atLimits(t *testing.T, property string, judge func(*run) outcome, limits []limit) {
	t.Helper()
	for _, c := range limits {
		b := newBuilder()
		b.setup.Promise.Bound, b.setup.Promise.Order, b.setup.Promise.Session = 5e8, true, true
		c.what(b)
		if p := judge(newRun(b.done())).property(property); p.Verdict != c.want || !strings.Contains(p.Reason, c.reason) {
			t.Errorf("%s: %s: %s\n%+v", c.name, p.Verdict, p.Reason, p.Violations)
		}
	}
}

// Who is granted the key as a wait begins, or ends, has not overtaken it.
func TestFairnessAtItsLimits(t *testing.T) {
	passes := func(at, from int64) func(*builder) { // client-2 asks at from and is granted it at at, client-1 waits from 2 s to 5 s
		return func(b *builder) {
			b.session1(0, "client-3", 1)
			b.sent(b.grantOf(from, at, "client-2", 2), from)
			h := b.grantOf(2*sec, 5*sec, "client-1", 3)
			b.sent(h, 5*sec)
		}
	}
	atLimits(t, "fairness", fairness, []limit{
		{"as the wait begins", passes(2*sec, sec), NA, "Nobody was granted a key while another client waited"},
		{"just after", passes(2*sec+1, sec), Holds, "1 wait "},
		{"just before it is granted", passes(5*sec-1, sec), Holds, "1 wait "},
		{"as it is granted", passes(5*sec, sec), Unknown, "No contention"},
		{"asked as the wait had lasted for a lease, and for a second at least", passes(4*sec, 3*sec), Holds, "1 wait "},
		{"asked just after", passes(4*sec, 3*sec+1), Violated, "1 of 1 wait "},
	})
}

// A loss is false before the deadline, if nothing that may have caused it was still felt.
func TestFalseLossAtItsLimits(t *testing.T) {
	told := func(at int64) func(*builder) {
		return func(b *builder) { h := losing(b); b.note(at, h, history.Lost) } // the renewal is sent at 0.3 s, answered 1 ms later
	}
	after := func(from, to int64, kind, target string) func(*builder) {
		return func(b *builder) {
			b.fault(from, to, 1, kind, target)
			told(1200 * ms)(b)
		}
	}
	away := func(from, to int64) func(*builder) {
		return func(b *builder) {
			b.fault(from, to, 1, "pause", "server-1")
			b.fault(from, to, 2, "pause", "server-2")
			told(1200 * ms)(b)
		}
	}
	atLimits(t, "false-loss", falseLoss, []limit{
		{"at the deadline, less what clocks leave open", told(1300*ms - trace.ClockNoise), Holds, "1 after the deadline"},
		{"just before", told(1300*ms - trace.ClockNoise - 1), Violated, "1 before the deadline"},
		{"the client's own fault was over for long when the renewal was sent", after(-1300*ms, -1200*ms-1, "pause", "client-1"), Violated, ""},
		{"it was felt as the renewal was sent", after(-1300*ms, -1200*ms, "pause", "client-1"), Holds, "1 with a cause"},
		{"too few servers, for long before the renewal was sent", away(-1300*ms, -1200*ms-1), Violated, ""},
		{"felt as it was sent", away(-1300*ms, -1200*ms), Holds, "1 with a cause"},
		{"too few as it was told", away(1200*ms, 2*sec), Holds, "1 with a cause"},
		{"too few just after", away(1200*ms+1, 2*sec), Violated, ""},
	})
}

// The lease of who died ends at 1 s, so the next grant is owed until 1.6 s: the death is at 0.1 s.
func TestRecoveryAtItsLimits(t *testing.T) {
	dies := func(b *builder, at int64) {
		b.sent(b.grantOf(0, 10*ms, "client-1", 1), 0)
		b.claimMore("client-1", 10*ms, -9*ms) // which was sent at 9 ms
		b.fault(at, 9*sec, 1, "kill", "client-1")
	}
	next := func(at int64) func(*builder) {
		return func(b *builder) { dies(b, 100*ms); b.grantOf(50*ms, at, "client-2", 2) }
	}
	atLimits(t, "recovery", recovery, []limit{
		{"killed as its lease ends", func(b *builder) { dies(b, sec); b.grantOf(50*ms, 9*sec, "client-2", 2) }, NA, "No holder of a key was killed."},
		{"killed just before", func(b *builder) { dies(b, sec-1); b.grantOf(50*ms, 9*sec, "client-2", 2) }, Violated, "1 by none within a lease"},
		{"as the lease ends, less what clocks leave open", next(sec - trace.ClockNoise), Holds, "After 1 death "},
		{"just before", next(sec - trace.ClockNoise - 1), Violated, "1 was followed by a grant before the lease ended"},
		{"long before, of a lock that renews by itself and says until when", func(b *builder) {
			b.setup.Promise.Renews = true
			next(300 * ms)(b)
		}, Violated, "1 was followed by a grant before the lease ended"},
		{"at the bound", next(1600 * ms), Holds, "After 1 death "},
		{"just after", next(1600*ms + 1), Violated, "1 by none within a lease"},
		{"nobody waited to the bound", func(b *builder) { dies(b, 100*ms); b.refused(50*ms, 1600*ms) }, NA, "nobody waited for the key for long enough"},
		{"somebody did for longer", func(b *builder) { dies(b, 100*ms); b.refused(50*ms, 1600*ms+1) }, Violated, "1 by none within a lease"},
		{"the run ends before the lease", func(b *builder) { dies(b, 100*ms); b.refused(50*ms, 900*ms) }, NA, "nobody waited for the key for long enough"},
		{"another fault, to the bound", func(b *builder) { next(1600 * ms)(b); b.fault(900*ms, 5*sec, 2, "pause", "server-1") }, Holds, "After 1 death "},
		{"another fault, beyond it", func(b *builder) { next(1600*ms + 1)(b); b.fault(900*ms, 5*sec, 2, "pause", "server-1") }, NA, "another fault"},
		{"who is next gives it back, and nobody else gets it", func(b *builder) {
			dies(b, 100*ms)
			h := b.grantOf(2*sec, 2100*ms, "client-2", 2)
			b.does(2200*ms, h, history.Release, history.OK)
			b.refused(2300*ms, 8*sec)
		}, Holds, "After 1 death "},
		{"one of two is not judged", func(b *builder) {
			b.setup.Keys = []string{"k", "l"}
			next(1600 * ms)(b)
			b.grant(11*ms, 20*ms, "client-1", "l", 1)
		}, Holds, "1 not judged: nobody waited"},
	})
}

// Of an acquire whose outcome was unknown only what came after it can be stuck; who waited
// to the end of the time waited for all of it.
func TestUnknownToTheEnd(t *testing.T) {
	for to, want := range map[int64]int{19 * sec: 0, 20*sec - 1: 0, 20 * sec: 1, 20*sec + 1: 1} {
		b := newBuilder()
		b.setup.Promise.DriftFactor = .01 // else so long a wait tells enough
		b.session1(0, "client-1", 1)
		b.refused(sec, 19*sec)
		b.op(sec, "client-2", history.Invoke, history.Acquire, "k")
		b.op(to, "client-2", history.Info, history.Acquire, "k")
		b.session1(20*sec-10*ms, "client-1", 2)
		r := newRun(b.done())
		var f found
		if r.stuck(r.named("k"), &f); f.certain != want {
			t.Errorf("%d: %+v", to, f.list)
		}
	}
}

// A key that nobody asks for at the end is named, the first of many.
func TestFirstKeyThatNobodyAsksFor(t *testing.T) {
	b := newBuilder()
	b.op(sec, "runner", history.Note, history.Final, "")
	b.setup.Keys = []string{"k", "l", "m"}
	b.grant(sec+ms, sec+2*ms, "final", "k", 9)
	b.grant(sec+3*ms, sec+4*ms, "final", "m", 9)
	b.setup.Keys = append(b.setup.Keys, "n")
	if o := deadlockFreedom(newRun(b.done())); o.verdict != Unknown || !strings.Contains(o.reason, `"l"`) {
		t.Errorf("%s: %s", o.verdict, o.reason)
	}
}

// The grant that came too late is evidence.
func TestLateFinalGrantIsNamed(t *testing.T) {
	b := newBuilder()
	b.op(sec, "runner", history.Note, history.Final, "")
	b.refused(2*sec, 8*sec)                   // 1 and 3
	b.grant(7*sec, 9*sec, "client-1", "k", 9) // 2 and 4
	f := deadlockFreedom(newRun(b.done())).found
	if len(f.list) == 0 || !slices.Equal(f.list[0].Operations, []int{0, 1, 3, 4}) || !strings.Contains(f.list[0].Message, "after 7.000 s only") {
		t.Errorf("%+v", f.list)
	}
}

// A fault that begins or ends as a grant is proven does not last while it is made.
func TestGrantsDuringFaultAtItsLimits(t *testing.T) {
	for ok, want := range map[int64]int{10: 0, 11: 1, 19: 1, 20: 0} {
		r := &run{Trace: &trace.Trace{Faults: []*trace.Fault{{Target: "s", From: 10, To: 20}}, Grants: []*trace.Grant{{Node: "c", OK: ok}}}}
		if got := r.grantsDuringFault(); got != want {
			t.Errorf("%d: %d, want %d", ok, got, want)
		}
	}
}

// A write of which only the resource knows is named by its process.
func TestWriter(t *testing.T) {
	r := &run{Trace: &trace.Trace{Ops: []history.Op{{}, {Type: history.Invoke, F: history.Write, Node: "c", Process: 4, Value: "v"}, {Type: history.Invoke, F: history.Write, Process: 4, Value: "w"}},
		ByOwner: map[string]*trace.Grant{"o": {Node: "d"}}, ByValue: map[string]int{"v": 0, "w": 1, "x": 2},
		Writes: []trace.Write{{Invoke: 1}, {Invoke: 2}, {Invoke: -1}}}}
	for want, op := range map[string]history.Op{
		"d":         {F: history.Apply, Node: "resource", Owner: "o", Value: "v"},
		"c":         {F: history.Apply, Node: "resource", Value: "v"},
		"process 4": {F: history.Apply, Node: "resource", Value: "w"},
		"process 0": {F: history.Apply, Node: "resource", Value: "x"},
	} {
		if got := (&updates{r: r}).writer(&op); got != want {
			t.Errorf("%+v: %q, want %q", op, got, want)
		}
	}
}

// Whoever held the key for a quarter of a lease at most is no reason that others wait.
func TestHoldsAtTheirLimits(t *testing.T) {
	for long, want := range map[int64]int64{250 * ms: sec, 250*ms + 1: sec + 250*ms + 1} { // from when nobody is granted the key
		b := newBuilder()
		b.fault(500*ms, 9*sec, 1, "pause", "client-2")
		h := b.grantOf(900*ms, sec, "client-1", 1)
		b.does(sec+long, h, history.Release, history.OK)
		b.refused(sec+100*ms, 5*sec)
		r := newRun(b.done())
		if d := r.drought(r.named("k"), r.incidents()[0]); d.from != origin+want || d.to != origin+5*sec {
			t.Errorf("held for %d: [%d, %d]", long, d.from-origin, d.to-origin)
		}
	}
}
