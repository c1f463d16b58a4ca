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
		{"nothing is sold out", "never-oversold/unfenced", history.Use{Name: history.Inventory, Stock: 9}, sales, Unknown, "nothing was sold out"},
		{"nothing is sold", "never-oversold/unfenced", inventory, func(b *builder) { late(b) }, Unknown, "Nothing was sold"},
		{"nobody came second", "never-oversold/unfenced", history.Use{Name: history.Inventory, Stock: 1, Lockless: true}, func(b *builder) {
			b.sell(ms, &held{node: "client-1", key: "k", owner: "a"}, 0, true)
		}, Unknown, "No two clients met"},
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
