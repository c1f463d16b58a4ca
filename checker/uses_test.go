package checker

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/history"
)

// use makes a builder of a use.
func use(u history.Use) *builder {
	b := newBuilder()
	b.setup.Use, b.setup.Keys = u, []string{"k", "l"}
	return b
}

// effect is done at t under h; each world says whether it happened there.
func (b *builder) effect(t int64, h *held, what string, u, f bool) {
	b.values++
	value := fmt.Sprintf("e%d", b.values)
	op := b.op(t, h.node, history.Invoke, history.Effect, h.key)
	op.Owner, op.Token, op.Value = h.owner, h.token, value
	op.Unfenced, op.Fenced = &history.Copy{Value: what}, &history.Copy{Value: what}
	note := b.op(t+ms/4, "resource", history.Note, history.Happened, h.key)
	note.Owner, note.Token, note.Value = h.owner, h.token, value
	note.Unfenced, note.Fenced = &history.Copy{Value: what, Accepted: u}, &history.Copy{Value: what, Accepted: f}
	done := b.op(t+ms/2, h.node, history.OK, history.Effect, h.key)
	done.Owner, done.Value = h.owner, value
}

// sell writes what is left; the fenced copy decides as told.
func (b *builder) sell(t int64, h *held, left int, accepted bool) {
	c := b.resource(h.key)
	b.decide(t, h, accepted)
	value := history.Numbered(fmt.Sprint("s", b.values), history.Pair{Unfenced: left, Fenced: left})
	for i := len(b.ops) - 3; i < len(b.ops); i++ {
		b.ops[i].Value = value
	}
	if c[0].Value = value; accepted {
		c[1].Value = value
	}
}

// late are three sessions of which the first is a zombie: it acts again at 2.5 s.
func late(b *builder) (first, second, third *held) {
	first = b.grant(0, 10*ms, "client-1", "k", 1)
	second = b.grant(20*ms, 2*sec, "client-2", "k", 2)
	third = b.grant(2*sec+10*ms, 2*sec+600*ms, "client-3", "k", 3)
	return first, second, third
}

// waitOn are two clients that wait for each other's key with no answer until they are asked to end; 0: nobody asks
// them.
func waitOn(b *builder, until int64) {
	b.grant(0, ms, "client-1", "k", 1)
	b.grant(0, ms, "client-2", "l", 1)
	b.op(5*ms, "client-1", history.Invoke, history.Acquire, "l")
	b.op(5*ms, "client-2", history.Invoke, history.Acquire, "k")
	for i := range 2 {
		if until > 0 {
			b.op(until, fmt.Sprintf("client-%d", i+1), history.Note, history.Stop, "")
		}
	}
	b.grant(5*sec, 5*sec+ms, "client-3", "m", 1)
}

// renewedFor are two clients that wait for each other's key until 4.9 s; each renews its own at a time, and is told a
// lease.
func renewedFor(b *builder, at, lease int64) {
	h, g := b.grant(0, ms, "client-1", "k", 1), b.grant(0, ms, "client-2", "l", 1)
	b.grant(5*ms, 4900*ms, "client-1", "l", 2)
	b.op(6*ms, "client-2", history.Invoke, history.Acquire, "k")
	b.op(4950*ms, "client-2", history.Fail, history.Acquire, "k")
	for _, h := range []*held{h, g} {
		h.node += "-renews"
		b.does(at, h, history.Extend, history.OK)
		ok := &b.ops[len(b.ops)-1]
		ok.Deadline, ok.Lease = ok.Deadline-ok.Lease+lease, lease
	}
}

func judged(t *testing.T, b *builder, name string) *Property {
	t.Helper()
	setup, ops := b.done()
	if err := history.Validate(setup, ops); err != nil {
		t.Fatal(err)
	}
	r := Judge(setup, ops)
	p := r.Property(name)
	if p == nil {
		t.Fatalf("%s was not judged", name)
	}
	parts := minimize(t, setup, ops, &r)
	proveMinimal(t, &r, parts)
	return p
}

// TestUses: each use with its flaw, without it, and with too little seen.
func TestUses(t *testing.T) {
	inventory, payment := history.Use{Name: history.Inventory, Stock: 2}, history.Use{Name: history.Payment}
	file, cache, twoKeys := history.Use{Name: history.File, Blocks: 2}, history.Use{Name: history.Cache}, history.Use{Name: history.TwoKeys}
	sales := func(b *builder) {
		first, second, third := late(b)
		b.read(20*ms, first)
		b.read(2*sec+ms, second)
		b.sell(2*sec+2*ms, second, 1, true)
		b.does(2*sec+3*ms, second, history.Release, history.OK)
		b.sell(2*sec+500*ms, first, 1, false) // from what it read long ago
		b.read(2*sec+610*ms, third)
		if third.base[0] != "" {
			b.sell(2*sec+620*ms, third, 0, true)
		}
	}
	for _, c := range []struct {
		name, property string
		use            history.Use
		does           func(*builder)
		want           Verdict
		says           string
	}{
		{"a late write puts the counter back", "never-oversold/unfenced", inventory, sales, Violated, "1 sale beyond a stock of 2"},
		{"the fence refuses it", "never-oversold/fenced", inventory, sales, Holds, "2 sales of a stock of 2"},
		{"nothing is sold out", "never-oversold/unfenced", history.Use{Name: history.Inventory, Stock: 9}, func(b *builder) {
			_, second, third := late(b)
			b.read(2*sec+ms, second)
			b.sell(2*sec+2*ms, second, 7, true)
			b.read(2*sec+610*ms, third)
			b.sell(2*sec+620*ms, third, 1, true)
		}, Unknown, "Only 8 sales of a stock of 9 in the unfenced copy: nothing was sold out"},
		{"two write that they sold several", "never-oversold/unfenced", history.Use{Name: history.Inventory, Stock: 5}, func(b *builder) {
			first, second, _ := late(b)
			b.read(20*ms, first)
			b.read(2*sec+ms, second)
			b.sell(2*sec+2*ms, second, 2, true)
			b.sell(2*sec+500*ms, first, 2, false)
		}, Violated, "1 sale beyond a stock of 5"},
		{"several at once, as many as there are", "never-oversold/unfenced", history.Use{Name: history.Inventory, Stock: 5}, func(b *builder) {
			_, second, third := late(b)
			b.read(2*sec+ms, second)
			b.sell(2*sec+2*ms, second, 2, true)
			b.read(2*sec+610*ms, third)
			b.sell(2*sec+620*ms, third, 0, true)
		}, Holds, "5 sales of a stock of 5"},
		{"the counter falls below nothing", "never-oversold/fenced", history.Use{Name: history.Inventory, Stock: 5}, func(b *builder) {
			_, second, third := late(b)
			b.read(2*sec+ms, second)
			b.sell(2*sec+2*ms, second, 2, true)
			b.read(2*sec+610*ms, third)
			b.sell(2*sec+620*ms, third, -1, true)
		}, Violated, "1 sale beyond a stock of 5"},
		{"nothing is sold", "never-oversold/unfenced", inventory, func(b *builder) { late(b) }, Unknown, "Nothing was sold"},
		{"nobody came second", "never-oversold/unfenced", history.Use{Name: history.Inventory, Stock: 1, Lockless: true}, func(b *builder) {
			b.sell(ms, &held{node: "client-1", key: "k", owner: "a"}, 0, true)
		}, Unknown, "No two clients met"},
		{"without a lock each client has owners of its own", "never-oversold/fenced", history.Use{Name: history.Inventory, Stock: 2, Lockless: true}, func(b *builder) {
			one, other := &held{node: "client-1", key: "k", owner: "client-1/a1"}, &held{node: "client-2", key: "k", owner: "client-2/a1"}
			b.read(ms, one)
			b.sell(2*ms, one, 1, true)
			b.sell(3*ms, other, 1, false)
			other.owner = "client-2/a2"
			b.read(10*ms, other) // and nobody has heard of client-1 since
			b.sell(12*ms, other, 0, true)
		}, Holds, "2 sales of a stock of 2"},
		{"charged twice", "charged-once/fenced", payment, func(b *builder) {
			first, second, _ := late(b)
			b.effect(2*sec+ms, second, "charge order 1", true, true)
			b.effect(2*sec+500*ms, first, "charge order 1", true, true)
		}, Violated, "1 charge too many for 1 order"},
		{"known by its key", "charged-once/fenced", payment, func(b *builder) {
			first, second, third := late(b)
			b.effect(2*sec+ms, second, "charge order 1", true, true)
			b.effect(2*sec+500*ms, first, "charge order 1", false, false)
			b.effect(2*sec+610*ms, third, "charge order 2", true, true)
		}, Holds, "1 second charge refused, as its key was known"},
		{"one charge tells nothing", "charged-once/unfenced", payment, func(b *builder) {
			first, _, _ := late(b)
			b.effect(20*ms, first, "charge order 1", true, true)
		}, Unknown, "Only 1 charge"},
		{"run twice", "one-run-a-slot/unfenced", history.Use{Name: history.Cron}, func(b *builder) {
			first, second, _ := late(b)
			b.effect(2*sec+ms, second, "run slot 7", true, true)
			b.effect(2*sec+500*ms, first, "run slot 7", true, true)
		}, Violated, "1 run too many for 1 slot"},
		{"torn", "no-interleaving/unfenced", file, func(b *builder) {
			first, second, _ := late(b)
			b.effect(20*ms, first, "version 1 block 1 of 2", true, true)
			b.effect(2*sec+ms, second, "version 1 block 1 of 2", true, true)
			b.effect(2*sec+500*ms, first, "version 1 block 2 of 2", true, false)
		}, Violated, "1 writer went on behind another's blocks"},
		{"whole, as the storage checks tokens", "no-interleaving/fenced", file, func(b *builder) {
			first, second, _ := late(b)
			b.effect(20*ms, first, "version 1 block 1 of 2", true, true)
			b.effect(2*sec+ms, second, "version 1 block 1 of 2", true, true)
			b.effect(2*sec+500*ms, first, "version 1 block 2 of 2", true, false)
		}, Holds, "1 block refused by its token"},
		{"torn by who has no owner", "no-interleaving/fenced", file, func(b *builder) {
			one, other := &held{node: "client-1", key: "k"}, &held{node: "client-2", key: "k"}
			for i, h := range []*held{one, other, one, other} {
				b.effect(int64(i+1)*10*ms, h, fmt.Sprintf("version 1 block %d of 2", i/2+1), true, true)
			}
		}, Violated, "2 writers went on behind another's blocks"},
		{"one after another, without an owner", "no-interleaving/fenced", file, func(b *builder) {
			one, other := &held{node: "client-1", key: "k"}, &held{node: "client-2", key: "k"}
			for i, h := range []*held{one, one, other, other} {
				b.effect(int64(i+1)*10*ms, h, fmt.Sprintf("version 1 block %d of 2", i%2+1), true, true)
			}
		}, Holds, "4 blocks of 2 writers stand together"},
		{"one writer tells nothing", "no-interleaving/unfenced", file, func(b *builder) {
			first, _, _ := late(b)
			b.effect(20*ms, first, "version 1 block 1 of 2", true, true)
		}, Unknown, "Only 1 writer"},
		{"two rebuild at once", "one-rebuilder", cache, func(b *builder) {
			first, second, _ := late(b)
			b.effect(20*ms, first, "begin version 1", true, true)
			b.effect(2*sec+ms, second, "begin version 1", true, true)
			b.write(2*sec+5*ms, second)
			b.write(2*sec+500*ms, first)
		}, Violated, "1 rebuild of 2 began while another was under way"},
		{"told of its loss, and given up", "one-rebuilder", cache, func(b *builder) {
			first, second, _ := late(b)
			b.effect(20*ms, first, "begin version 1", true, true)
			b.note(1800*ms, first, history.Lost)
			b.note(1900*ms, first, history.Abstain)
			b.effect(2*sec+ms, second, "begin version 1", true, true)
		}, Holds, "2 rebuilds, never two of a key at once"},
		{"asked to end in the middle", "one-rebuilder", cache, func(b *builder) {
			first, second, _ := late(b)
			b.effect(20*ms, first, "begin version 1", true, true)
			b.op(30*ms, first.node, history.Note, history.Stop, "")
			b.op(40*ms, first.node, history.Note, history.End, "")
			b.effect(2*sec+ms, second, "begin version 1", true, true)
			b.write(2*sec+5*ms, second)
		}, Holds, "2 rebuilds, never two of a key at once"},
		{"asked to end, and going on", "one-rebuilder", cache, func(b *builder) {
			first, second, _ := late(b)
			b.effect(20*ms, first, "begin version 1", true, true)
			b.op(30*ms, first.node, history.Note, history.Stop, "")
			b.effect(2*sec+ms, second, "begin version 1", true, true)
			b.write(2*sec+5*ms, second)
			b.op(2*sec+10*ms, first.node, history.Note, history.End, "")
		}, Violated, "1 rebuild of 2 began while another was under way"},
		{"ended unasked", "one-rebuilder", cache, func(b *builder) { // it may go on, and nobody hears of it
			first, second, _ := late(b)
			b.effect(20*ms, first, "begin version 1", true, true)
			b.op(40*ms, first.node, history.Note, history.End, "")
			b.effect(2*sec+ms, second, "begin version 1", true, true)
			b.write(2*sec+5*ms, second)
		}, Violated, "1 rebuild of 2 began while another was under way"},
		{"two without an owner", "one-rebuilder", cache, func(b *builder) {
			b.effect(20*ms, &held{node: "client-1", key: "k"}, "begin version 1", true, true)
			other := &held{node: "client-2", key: "k"}
			b.effect(30*ms, other, "begin version 1", true, true)
			b.write(40*ms, other)
		}, Violated, "1 rebuild of 2 began while another was under way"},
		{"one after another", "one-rebuilder", cache, func(b *builder) {
			first, second, _ := late(b)
			b.effect(20*ms, first, "begin version 1", true, true)
			b.write(30*ms, first)
			b.effect(2*sec+ms, second, "begin version 2", true, true)
			b.write(2*sec+5*ms, second)
		}, Holds, "never two of a key at once"},
		{"two under one grant", "one-rebuilder", cache, func(b *builder) {
			first, second, _ := late(b)
			b.effect(20*ms, first, "begin version 1", true, true)
			b.write(30*ms, first)
			b.effect(40*ms, first, "begin version 2", true, true)
			b.write(50*ms, first)
			b.effect(2*sec+ms, second, "begin version 3", true, true)
			b.write(2*sec+5*ms, second)
		}, Holds, "3 rebuilds, never two of a key at once"},
		{"nobody renews", "no-deadlock", twoKeys, func(b *builder) {
			b.grant(0, ms, "client-1", "k", 1)
			b.grant(0, ms, "client-2", "l", 1)
			b.grant(5*ms, sec, "client-1", "l", 2)
			b.op(6*ms, "client-2", history.Invoke, history.Acquire, "k")
			b.op(sec+ms, "client-2", history.Fail, history.Acquire, "k")
		}, Holds, "1 deadlock, each over within 0.994 s"},
		{"both wait on", "no-deadlock", twoKeys, func(b *builder) {
			b.grant(0, ms, "client-1", "k", 1)
			b.grant(0, ms, "client-2", "l", 1)
			for node, key := range map[string]string{"client-1": "l", "client-2": "k"} {
				b.op(5*ms, node, history.Invoke, history.Acquire, key)
				b.op(3*sec, node, history.Fail, history.Acquire, key)
			}
		}, Violated, "1 of 1 deadlock lasted longer"},
		{"granted and waiting at one instant", "no-deadlock", twoKeys, func(b *builder) {
			b.grant(0, ms, "client-1", "k", 1)
			b.op(2*ms, "client-1", history.Invoke, history.Acquire, "l")
			b.grant(0, 3*ms, "client-2", "l", 1)
			b.op(3*ms, "client-2", history.Invoke, history.Acquire, "k")
			b.op(3*sec, "client-1", history.Fail, history.Acquire, "l")
			b.op(3*sec+ms, "client-2", history.Fail, history.Acquire, "k")
		}, Violated, "1 of 1 deadlock lasted longer"},
		{"both wait until they are asked to end", "no-deadlock", twoKeys, func(b *builder) { waitOn(b, 3*sec) }, Violated, "1 of 1 deadlock lasted longer"},
		{"both are asked to end soon", "no-deadlock", twoKeys, func(b *builder) {
			b.setup.Promise.Bound = 1e9
			waitOn(b, 1200*ms)
		}, Unknown, "ended within 1.195 s as a client gave up"},
		{"one of them dies", "no-deadlock", twoKeys, func(b *builder) {
			b.setup.Servers = []string{"server"}
			b.grant(0, ms, "client-1", "k", 1)
			b.grant(0, ms, "client-2", "l", 1)
			b.op(5*ms, "client-1", history.Invoke, history.Acquire, "l")
			b.op(5*ms, "client-2", history.Invoke, history.Acquire, "k")
			b.fault(300*ms, 9*sec, 1, "kill", "client-1")
			b.op(3*sec, "client-2", history.Fail, history.Acquire, "k")
		}, Unknown, "ended within 0.295 s as a client gave up, died"},
		{"nobody knows how long both waited", "no-deadlock", twoKeys, func(b *builder) { waitOn(b, 0) }, Unknown, "was not heard of any more"},
		{"renewed for longer before", "no-deadlock", twoKeys, func(b *builder) { renewedFor(b, 2*ms, 5*sec) }, Holds, "over within 4.894 s"},
		{"renewed for longer meanwhile", "no-deadlock", twoKeys, func(b *builder) { renewedFor(b, 500*ms, 5*sec) }, Holds, "over within 4.894 s"},
		{"renewed for no longer", "no-deadlock", twoKeys, func(b *builder) { renewedFor(b, 500*ms, sec) }, Violated, "the longest 4.894 s"},
		{"nobody waits for another", "no-deadlock", twoKeys, func(b *builder) { late(b) }, Unknown, "No two clients ever waited for each other"},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			b := use(c.use)
			c.does(b)
			if p := judged(t, b, c.property); p.Verdict != c.want || !strings.Contains(p.Reason, c.says) {
				t.Errorf("%s, %q; want %s, %q", p.Verdict, p.Reason, c.want, c.says)
			}
		})
	}
}

// TestUsesAreAsked: the properties of a use are judged of that use alone.
// An effect that the resource acknowledged and did not log is counted, and what holds by such a log is unknown. A refused effect, or
// one of which nobody knows how it ended, need not be logged.
func TestEffectsThatAreNotLogged(t *testing.T) {
	card := func(done history.Type, accepted, more bool, value string) Property {
		b := use(history.Use{Name: history.Payment})
		h := b.grant(0, 10*ms, "client-1", "k", 1)
		b.effect(20*ms, h, "charge order 1", true, true)
		b.effect(30*ms, h, "charge order 2", true, true)
		for _, typ := range []history.Type{history.Invoke, done} { // its note is missing
			op := b.op(40*ms, h.node, typ, history.Effect, h.key)
			op.Owner, op.Token, op.Value = h.owner, h.token, "e3"
			op.Unfenced, op.Fenced = &history.Copy{Value: value}, &history.Copy{Value: value}
			if typ == history.OK {
				op.Unfenced.Accepted, op.Fenced.Accepted = accepted, accepted
			}
		}
		if more {
			b.values++
			b.effect(50*ms, h, "charge order 4", true, true)
		}
		return verdictOf(b, "charged-once/unfenced")
	}
	for _, c := range []struct {
		name string
		got  Property
		want Verdict
		says string
	}{
		{"another one", card(history.OK, true, true, "charge order 3"), Unknown, `acknowledged "charge order 3" of client-1 (token 1) in the unfenced copy of "k" at 0.040 s, and has not logged it`},
		{"one that was done before", card(history.OK, true, true, "charge order 1"), Violated, "charge"},
		{"the log ends before", card(history.OK, true, false, "charge order 3"), Unknown, "what it logged after that is missing"},
		{"it was refused", card(history.OK, false, true, "charge order 3"), Holds, ""},
		{"nobody knows how it ended", card(history.Info, false, true, "charge order 3"), Holds, ""},
	} {
		if c.got.Verdict != c.want || !strings.Contains(c.got.Reason, c.says) {
			t.Errorf("%s: %s: %s, want %s: %s", c.name, c.got.Verdict, c.got.Reason, c.want, c.says)
		}
	}
}

func TestUsesAreAsked(t *testing.T) {
	for _, c := range Checkers {
		if c.use == "" {
			continue
		}
		setup := newBuilder().setup
		if r := Judge(setup, nil); r.Property(c.Name) != nil {
			t.Errorf("%s is judged of a guarded write", c.Name)
		}
		setup.Use.Name = c.use
		if r := Judge(setup, nil); r.Property(c.Name) == nil || r.Property(c.Name).Verdict != Unknown {
			t.Errorf("%s of nothing: %+v", c.Name, r.Property(c.Name))
		}
	}
}

// TestAnswerOfAUse: fencing may save the table and not the card.
func TestAnswerOfAUse(t *testing.T) {
	b := use(history.Use{Name: history.Payment})
	first, second, _ := late(b)
	b.read(20*ms, first)
	b.read(2*sec+ms, second)
	b.effect(2*sec+2*ms, second, "charge order 1", true, true)
	b.write(2*sec+5*ms, second)
	b.effect(2*sec+500*ms, first, "charge order 1", true, true)
	b.write(2*sec+502*ms, first)
	setup, ops := b.done()
	if r := Judge(setup, ops); r.Answers.Fenced != No || !strings.Contains(r.Sentences.Fenced, "; the fence protected the table, not the effect outside of it") {
		t.Errorf("%+v %+v", r.Answers, r.Sentences)
	}
}
