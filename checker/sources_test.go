package checker

import (
	"slices"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// ended has every node end its records, but for some.
func (b *builder) ended(without ...string) {
	b.setup.Servers = []string{"server-1"}
	b.setup.Sources = append(slices.Clone(b.setup.Clients), "server-1", "resource")
	here, last := map[string]int64{}, int64(0)
	for _, op := range b.ops {
		here[op.Node]++
		last = max(last, op.Time)
	}
	for _, name := range b.setup.Sources {
		if !slices.Contains(without, name) {
			b.ops = append(b.ops, history.Op{Time: last, Node: name, Type: history.Note, F: history.End, Length: here[name]})
		}
	}
}

// truncated leaves out all that a node recorded after t.
func (b *builder) truncated(node string, t int64) {
	b.ops = slices.DeleteFunc(b.ops, func(op history.Op) bool { return op.Node == node && op.Time > origin+t })
}

// verdictOf is the verdict of a property.
func verdictOf(b *builder, property string) Property {
	return *judgeAll(b.done()).Property(property)
}

func judgeAll(s history.Setup, ops []history.Op) *Result { r := Judge(s, ops); return &r }

// handedOver is a key that client-1 gives back at 100 ms and client-2 is granted at 120 ms.
func handedOver(b *builder) {
	h := b.grant(0, 10*ms, "client-1", "k", 1)
	b.read(20*ms, h)
	b.write(30*ms, h)
	b.does(100*ms, h, history.Release, history.OK)
	g := b.grant(50*ms, 120*ms, "client-2", "k", 2)
	b.read(130*ms, g)
	b.write(140*ms, g)
	b.does(200*ms, g, history.Release, history.OK)
}

// A release that was not recorded is no lease that two held, where the records of its
// client may be missing; where they are whole it is.
func TestMissingReleaseIsNoOverlap(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(*builder)
		want Verdict
	}{
		"as it was":                   {func(b *builder) { b.ended() }, Holds},
		"cut off, and no end":         {func(b *builder) { b.truncated("client-1", 90*ms); b.ended("client-1") }, Unknown},
		"a hole that is counted":      {func(b *builder) { b.ended(); b.truncated("client-1", 90*ms) }, Unknown},
		"whole: it never released it": {func(b *builder) { b.truncated("client-1", 90*ms); b.ended() }, Violated},
		"of others, without ends":     {func(b *builder) { b.truncated("client-1", 90*ms) }, Violated},
		"the resource shows that more must follow": {func(b *builder) {
			b.truncated("client-1", 15*ms)
		}, Unknown},
		"another client has no end": {func(b *builder) { b.truncated("client-1", 90*ms); b.ended("client-3") }, Violated},
		"it went on after that":     {func(b *builder) { b.truncated("client-1", 90*ms); b.lives("client-1", 150*ms); b.ended("client-1") }, Violated},
		"a server has no end":       {func(b *builder) { b.truncated("client-1", 90*ms); b.ended("server-1") }, Violated},
		"the resource is not read":  {func(b *builder) { b.truncated("client-1", 90*ms); b.ended("resource") }, Violated},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBuilder()
			handedOver(b)
			c.end(b)
			if p := verdictOf(b, "lease-exclusion"); p.Verdict != c.want {
				t.Errorf("%s: %s", p.Verdict, p.Reason)
			}
		})
	}
}

// lives records that a client lives.
func (b *builder) lives(node string, t int64) { b.op(t, node, history.Note, history.Holder, "k") }

// A fence that refuses whom a grant superseded that is missing refuses rightly.
func TestMissingGrantIsNoWrongRefusal(t *testing.T) {
	for _, ended := range []bool{true, false} {
		b := newBuilder()
		h := b.grant(0, 10*ms, "client-1", "k", 1)
		b.read(20*ms, h)
		b.decide(300*ms, h, false)
		heard := b.op(200*ms, "resource", history.Note, history.Apply, "k")
		heard.Value, heard.Owner, heard.Token = "of client-2", "client-2/9", 2
		b.does(400*ms, h, history.Release, history.OK)
		want := Unknown
		if ended {
			b.ended()
			want = Violated
		}
		if p := verdictOf(b, "fenced-writes"); p.Verdict != want {
			t.Errorf("ended %v: %s: %s", ended, p.Verdict, p.Reason)
		}
	}
}

// What is green rests on all records, and the doubt says whose are missing.
func TestNoEndIsADoubt(t *testing.T) {
	for node, dims := range map[string][2]bool{"client-2": {true, true}, "server-1": {true, true}, "resource": {false, true}} {
		b := newBuilder()
		handedOver(b)
		b.ended(node)
		r := judgeAll(b.done())
		if !strings.Contains(strings.Join(r.Doubts, " "), node) {
			t.Errorf("%s: %q", node, r.Doubts)
		}
		for i, name := range []string{"mutual-exclusion", "no-lost-update/fenced"} {
			if p := r.Property(name); (p.Verdict == Unknown) != dims[i] {
				t.Errorf("%s without its end: %s is %s: %s", node, name, p.Verdict, p.Reason)
			}
		}
	}
	b := newBuilder()
	handedOver(b)
	b.ended()
	if r := judgeAll(b.done()); len(r.Doubts) > 0 {
		t.Errorf("all have ended: %q", r.Doubts)
	}
}

// The log of the resource answers for what it told last, by writes and by reads.
func TestLogThatEndsTooEarly(t *testing.T) {
	for name, last := range map[string]func(b *builder, h *held){
		"write": func(b *builder, h *held) { b.write(600*ms, h) },
		"read":  func(b *builder, h *held) { b.read(600*ms, h) },
	} {
		b := newBuilder()
		handedOver(b)
		last(b, b.grant(500*ms, 510*ms, "client-3", "k", 3))
		b.truncated("resource", 400*ms)
		r := judgeAll(b.done())
		if p := r.Property("no-lost-update/unfenced"); p.Verdict != Unknown || !strings.Contains(strings.Join(r.Doubts, " "), "log ends at 0.140 s") {
			t.Errorf("%s: %s: %s %q", name, p.Verdict, p.Reason, r.Doubts)
		}
		if p := r.Property("lease-exclusion"); p.Verdict != Holds {
			t.Errorf("%s: it does not read the resource: %s", name, p.Reason)
		}
	}
}

// Where the recorder itself was killed nobody has ended: what the records prove stays.
func TestKilledRunKeepsWhatItProves(t *testing.T) {
	b := newBuilder()
	h, _ := zombie(b)
	b.write(4*sec, h)
	for _, node := range b.setup.Clients {
		b.lives(node, 5*sec)
	}
	b.ended("client-1", "client-2", "client-3", "server-1", "resource")
	r := judgeAll(b.done())
	if p := r.Property("no-lost-update/unfenced"); p.Verdict != Violated {
		t.Errorf("%s: %s", p.Verdict, p.Reason)
	}
	if p := r.Property("mutual-exclusion"); p.Verdict != Violated {
		t.Errorf("%s: %s", p.Verdict, p.Reason)
	}
	if len(r.Doubts) != 1 || !r.Incomplete {
		t.Errorf("%q", r.Doubts)
	}
}

// A database's log is read by a client: whether it is whole depends on that client's records.
func TestLogReadByAClient(t *testing.T) {
	for without, want := range map[string]Verdict{"": Violated, "client-1": Unknown} {
		b := newBuilder()
		turns(b)
		b.forget()
		for i := range b.ops {
			if trace.IsLog(b.ops[i].F) {
				b.ops[i].Node = "client-1"
			}
		}
		b.ended(without)
		if p := verdictOf(b, "no-lost-update/unfenced"); p.Verdict != want {
			t.Errorf("without the end of %q: %s: %s", without, p.Verdict, p.Reason)
		}
	}
}

// A killed client had said all that it did, also where its agent has noted the heal since.
func TestKilledClientHadSaidAll(t *testing.T) {
	b := newBuilder()
	handedOver(b)
	b.fault(sec, 1500*ms, 1, "kill", "client-1")
	b.op(3*sec, "client-2", history.Invoke, history.Acquire, "k")
	b.op(40*sec, "client-2", history.Fail, history.Acquire, "k")
	b.lives("client-2", 41*sec)
	b.lives("client-3", 41*sec)
	b.ended("client-1", "client-2", "client-3", "server-1", "resource")
	if p := judgeAll(b.done()).Property("deadlock-freedom"); p.Verdict != Violated {
		t.Errorf("%s: %s", p.Verdict, p.Reason)
	}
}

// The resource's agent notes its stalls: where they may be missing, no stall is ruled out.
func TestResourceWithoutItsEndMayHaveStalled(t *testing.T) {
	for _, cut := range []bool{false, true} {
		b := newBuilder()
		stale := b.grantOf(0, 10*ms, "client-1", 1)
		b.read(20*ms, stale)
		now := b.grantOf(500*ms, 1200*ms, "client-2", 2)
		b.op(1300*ms, "resource", history.Note, history.Stall, "").Length = 1200 * ms
		b.read(1310*ms, now)
		b.write(1320*ms, stale)
		b.final(5 * sec)
		if cut {
			b.truncated("resource", 400*ms)
			b.ended("resource")
		} else {
			b.ended()
		}
		if p := judgeAll(b.done()).Property("mutual-exclusion"); p.Verdict != Unknown {
			t.Errorf("cut %v: %s: %s", cut, p.Verdict, p.Reason)
		}
	}
}
