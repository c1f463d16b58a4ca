package checker

import (
	"slices"
	"testing"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// spansOf are some times since the begin of a history, each from one of them to the next.
func spansOf(times ...int64) (spans []trace.Span) {
	for i := 0; i < len(times); i += 2 {
		spans = append(spans, trace.Span{From: origin + times[i], To: origin + times[i+1]})
	}
	return spans
}

// A fault ends no hold that is asked for when it is over, but where a session has missed heartbeats: who stood still for less than a
// quarter of a lease (1 s here) has missed none, and who was dead has no session left.
func TestEndsOfFaults(t *testing.T) {
	for i, c := range []struct {
		kind    string
		long    int64
		session bool
		want    int64 // after its heal
	}{
		{"pause", 249 * ms, true, 0},
		{"pause", 250 * ms, true, sec},
		{"pause", 250 * ms, false, 0},
		{"disk-stall", 249 * ms, true, 0},
		{"kill", 249 * ms, true, sec},
		{"crash", 249 * ms, true, sec},
		{"reset", 249 * ms, true, sec},
		{"partition", 200 * ms, true, 700*ms + sec}, // its connections flow 0.7 s later
	} {
		b := newBuilder()
		b.servers3()
		b.setup.Promise.Session, b.setup.Promise.Survives = c.session, history.Absence
		b.fault(sec, sec+c.long, 1, c.kind, "server-1")
		r := newRun(b.done())
		if got := r.ends(r.Faults[0]) - r.Faults[0].To; got != c.want {
			t.Errorf("%d, %s of %d ms: %d ms, want %d", i, c.kind, c.long/ms, got/ms, c.want/ms)
		}
	}
}

// A fault that failed to begin makes no outage longer.
func TestOutagesBesideAFaultThatFailed(t *testing.T) {
	for _, begins := range []bool{false, true} {
		b := newBuilder()
		b.servers3()
		b.setup.Promise.Session, b.setup.Promise.Survives = true, history.Absence
		b.fault(sec, 1100*ms, 1, "pause", "client-1")
		for _, phase := range []history.Phase{history.Begin, history.Failed} {
			if begins || phase != history.Begin {
				b.op(1050*ms, "server-1", history.Note, history.Fault, "").Fault = &history.FaultNote{ID: 2, Kind: "kill", Target: "server-1", Phase: phase}
			}
		}
		want := spansOf(sec, 1100*ms)
		if begins {
			want[0].To += sec
		}
		if got := newRun(b.done()).endingOutages("client-1"); !slices.Equal(got, want) {
			t.Errorf("begins %v: %v, want %v", begins, got, want)
		}
	}
}

// Who waits and is never answered waits at least until another thread of its client asks for something, unless one acts as an owner of whom
// nobody knows how it came to be one: it may be what this one waited for.
func TestLastedUntilAnotherThreadAsks(t *testing.T) {
	for name, c := range map[string]struct {
		then func(*builder)
		want bool
	}{
		"asks for another key":      {func(b *builder) { b.op(8*sec, "client-1", history.Invoke, history.Try, "l") }, true},
		"does nothing":              {nothing, false},
		"asked for nothing since":   {func(b *builder) { b.op(500*ms, "client-1", history.Invoke, history.Try, "l") }, false},
		"acts as an unknown owner":  {func(b *builder) { b.op(8*sec, "client-1", history.Invoke, history.Write, "k").Owner = "client-1/x" }, false},
		"and has done so before it": {func(b *builder) { b.op(500*ms, "client-1", history.Invoke, history.Write, "k").Owner = "client-1/x" }, false},
		"is told of an unknown one": {func(b *builder) {
			b.op(8*sec, "client-1", history.Invoke, history.Try, "l")
			b.note(8*sec, &held{node: "client-1", key: "k", owner: "client-1/x"}, history.Lost)
		}, true},
	} {
		b := newBuilder()
		b.op(sec, "client-1", history.Invoke, history.Acquire, "k")
		b.process["client-1"] = 0 // another thread
		c.then(b)
		r := newRun(b.done())
		w, known := r.lasted(r.named("k").Waits[0])
		if known != c.want || known && w.To != origin+8*sec {
			t.Errorf("%s: %v, until %d ms", name, known, (w.To-origin)/ms)
		}
	}
}

// The service has answered whom it told ok, or that another holds the key, or that what it would renew or give back is not held, and who saw its holder. A
// request that fails in another way, or that is of the resource, says nothing of the service.
func TestAnswered(t *testing.T) {
	for _, c := range []struct {
		op   history.Op
		want bool
	}{
		{history.Op{Type: history.OK, F: history.Acquire}, true},
		{history.Op{Type: history.OK, F: history.Release}, true},
		{history.Op{Type: history.OK, F: history.Write}, false},
		{history.Op{Type: history.Invoke, F: history.Acquire}, false},
		{history.Op{Type: history.Info, F: history.Release}, false},
		{history.Op{Type: history.Fail, F: history.Acquire}, false},
		{history.Op{Type: history.Fail, F: history.Acquire, Busy: true}, true},
		{history.Op{Type: history.Fail, F: history.Extend}, true},
		{history.Op{Type: history.Fail, F: history.Release}, true},
		{history.Op{Type: history.Note, F: history.Holder}, true},
		{history.Op{Type: history.Note, F: history.Holder, Error: "timeout"}, false},
	} {
		if got := new(run).answered(&c.op); got != c.want {
			t.Errorf("%s %s, busy %v, error %q: %v", c.op.F, c.op.Type, c.op.Busy, c.op.Error, got)
		}
	}
}
