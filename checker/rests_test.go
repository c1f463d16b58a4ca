package checker

import (
	"testing"

	"github.com/dlmtest/dlmtest/history"
)

// A claim is compared with the rest of its lease that a look told, once, where the look told one and nothing may have changed the lease since.
func TestRestsCompared(t *testing.T) {
	more := func(add func(*builder, *held)) func(*builder) { return restTold(100*ms, 500*ms, add) }
	for _, c := range []struct {
		name            string
		what            func(*builder)
		compared, wrong int
	}{
		{"it told less", restTold(100*ms, 500*ms, nil), 1, 1},
		{"it told none", restTold(100*ms, 0, nil), 0, 0},
		{"it told none, and of nobody", func(b *builder) { restTold(100*ms, 909*ms, nil)(b); b.seen(150*ms, 151*ms, "nobody") }, 1, 0},
		{"it told a rest of nobody", func(b *builder) {
			restTold(100*ms, 909*ms, nil)(b)
			b.seen(150*ms, 151*ms, "nobody")
			b.ops[len(b.ops)-1].Lease = 100 * ms
		}, 1, 0},
		{"two looks at one claim", more(func(b *builder, h *held) {
			b.seen(50*ms, 51*ms, h.owner)
			b.ops[len(b.ops)-1].Lease = 959 * ms
		}), 1, 1},
		{"never given back", func(b *builder) { more(nil)(b); b.ops = b.ops[:len(b.ops)-2] }, 1, 1},
		{"it claims to hold it for ever", func(b *builder) { more(nil)(b); b.noDeadlines() }, 0, 0},
		{"by a clock that nobody knows", func(b *builder) { more(nil)(b); b.bend("client-1", 0, 20*ms, sec) }, 0, 0},
		{"a renewal was denied", more(func(b *builder, h *held) { b.does(20*ms, h, history.Extend, history.Fail) }), 0, 0},
		{"told that it may be lost", more(func(b *builder, h *held) { b.note(50*ms, h, history.Suspended) }), 0, 0},
		{"given back before the look was answered", more(func(b *builder, h *held) {
			b.op(100*ms+ms/2, h.node, history.Invoke, history.Release, "k").Owner = h.owner
		}), 0, 0},
	} {
		b := newBuilder()
		c.what(b)
		var f found
		r := newRun(b.done())
		if compared := r.restsTold(&f); compared != c.compared || f.certain != c.wrong {
			t.Errorf("%s: compared %d, want %d; wrong %d, want %d: %+v", c.name, compared, c.compared, f.certain, c.wrong, f.list)
		}
	}
}

func (b *builder) noDeadlines() {
	for i := range b.ops {
		b.ops[i].Deadline = 0
	}
}

// A release is of who was granted that key before; its owner may have been granted it where an acquire of its client has no known end.
func TestHandingOfWhom(t *testing.T) {
	asks := func(node string, outcome history.Type) func(*builder) {
		return func(b *builder) {
			b.op(10*ms, node, history.Invoke, history.Acquire, "k")
			if outcome != "" {
				b.op(20*ms, node, outcome, history.Acquire, "k")
			}
		}
	}
	for _, c := range []struct {
		name         string
		what         func(*builder)
		owner        string
		granted, may bool
	}{
		{"its own", func(b *builder) { b.grantOf(0, 10*ms, "client-1", 1) }, "client-1/2", true, false},
		{"of another key", func(b *builder) { b.grant(0, 10*ms, "client-1", "l", 1) }, "client-1/2", false, false},
		{"granted later", func(b *builder) { b.grantOf(2*sec, 2010*ms, "client-1", 1) }, "client-1/2", false, false},
		{"nobody's", nothing, "nobody", false, false},
		{"its client was refused", asks("client-1", history.Fail), "nobody", false, false},
		{"its client may have been granted it", asks("client-1", history.Info), "nobody", false, true},
		{"its client was never answered", asks("client-1", ""), "nobody", false, true},
		{"another client may have been granted it", asks("client-2", history.Info), "nobody", false, false},
	} {
		b := newBuilder()
		b.session1(3*sec, "client-3", 9)
		c.what(b)
		release := &held{node: "client-1", key: "k", owner: c.owner}
		b.does(sec, release, history.Release, history.OK)
		r := newRun(b.done())
		for i := range r.Ops {
			if op := &r.Ops[i]; op.Time != origin+sec || op.Type != history.Invoke {
				continue
			}
			if h, is := r.handing(i); !is || (h.grant != nil) != c.granted || h.maybe != c.may {
				t.Errorf("%s: %v %+v", c.name, is, h)
			}
		}
	}
}

// Who was away while it asked may have been granted what it knows nothing of; who was away before or after that was not.
func TestUnheard(t *testing.T) {
	for _, c := range []struct {
		name     string
		from, to int64 // of the pause
		outcome  history.Type
		want     int
	}{
		{"meanwhile", 200 * ms, 300 * ms, "", 1},
		{"before", 10 * ms, 50 * ms, "", 0},
		{"after", 600 * ms, 700 * ms, history.Info, 0},
		{"meanwhile, and was refused", 200 * ms, 300 * ms, history.Fail, 0},
		{"meanwhile, and was granted it", 200 * ms, 300 * ms, history.OK, 1},
	} {
		b := newBuilder()
		b.setup.Servers, b.setup.Kind = []string{"server-1"}, history.ReadWrite
		b.fault(c.from, c.to, 1, "pause", "client-1")
		b.op(100*ms, "client-1", history.Invoke, history.Acquire, "k")
		if c.outcome != "" {
			b.op(500*ms, "client-1", c.outcome, history.Acquire, "k")
		}
		b.session1(5*sec, "client-3", 9)
		r := newRun(b.done())
		in := &incident{from: r.Begin, to: r.End, hit: map[string]*hits{"client-1": {}}}
		for _, f := range r.Faults {
			in.hit["client-1"].add(f, false)
		}
		if got := r.unheardIn(r.named("k"), in, r.End); len(got) != c.want {
			t.Errorf("%s: %+v, want %d", c.name, got, c.want)
		}
	}
}
