package checker

import (
	"fmt"
	"testing"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// noted drops what the client recorded of its last effect or write: only the resource knows of it.
func (b *builder) noted() *history.Op {
	note := b.ops[len(b.ops)-2]
	b.ops = append(b.ops[:len(b.ops)-3], note)
	return &b.ops[len(b.ops)-1]
}

// What the properties of uses say, word for word, and the operations that they name.
func TestUsesInWords(t *testing.T) {
	inventory, lockless := history.Use{Name: history.Inventory, Stock: 2}, history.Use{Name: history.Inventory, Stock: 2, Lockless: true}
	payment, file, cache := history.Use{Name: history.Payment}, history.Use{Name: history.File, Blocks: 2}, history.Use{Name: history.Cache}
	three := func(b *builder) (first, second, third *held) { // 0 to 5
		return b.grant(0, 10*ms, "client-1", "k", 1), b.grant(ms, 11*ms, "client-2", "k", 2), b.grant(2*ms, 12*ms, "client-3", "k", 3)
	}
	stranger := &held{node: "client-4", key: "k", owner: "stranger"}
	for _, c := range []struct {
		name, property string
		use            history.Use
		does           func(*builder)
		want           string // the verdict, the reason, and each violation with its operations
	}{
		{"sold twice", "never-oversold/unfenced", inventory, func(b *builder) {
			first, second, _ := three(b)
			first.base, second.base = [2]string{}, [2]string{}
			b.sell(20*ms, second, 1, true)
			b.sell(30*ms, first, 1, false)
			first.base = [2]string{b.resource("k")[0].Value, ""}
			b.sell(1020*ms, first, 0, false)
		}, `violated: 1 sale beyond a stock of 2 in the unfenced copy, 2.0 a second.
client-1 (token 1) made sale 3 of "k" at 1.020 s, of which there were 2 in stock: client-1 (token 1) had put the counter from 1 to 1 at 0.030 s [3 9 10 12 13]`},
		{"the first of all puts nothing back", "never-oversold/unfenced", inventory, func(b *builder) {
			for i, left := range []int{1, 0, -1} {
				b.sell(int64(i)*500*ms, stranger, left, true)
				b.noted()
				stranger.base[0] = b.resource("k")[0].Value
			}
		}, `violated: 1 sale beyond a stock of 2 in the unfenced copy, 2.0 a second.
"stranger", of whose client nothing is recorded, made sale 3 of "k" at 1.000 s, of which there were 2 in stock [2]`},
		{"the world of the other copy, values without a number and refused ones", "never-oversold/fenced", inventory, func(b *builder) {
			first, _, _ := three(b)
			b.sell(20*ms, first, 1, true)
			b.ops[len(b.ops)-2].Fenced = nil
			b.sell(30*ms, first, 1, true)
			b.decide(40*ms, first, true) // "v3"
			first.base[1] = b.resource("k")[1].Value
			b.sell(50*ms, first, 1, true)
			first.base[1] = history.Numbered("s", history.Pair{Fenced: 1})
			b.sell(60*ms, first, 0, true)
			b.sell(70*ms, first, 0, false)
		}, `holds: 2 sales of a stock of 2, never more in the fenced copy, 33.3 a second.`},
		{"without a lock", "never-oversold/fenced", lockless, func(b *builder) {
			b.sell(0, stranger, 1, true)
			stranger.base[1] = b.resource("k")[1].Value
			b.sell(500*ms, stranger, 0, true)
			b.sell(600*ms, stranger, 0, false)
		}, `holds: 2 sales of a stock of 2, never more in the fenced copy, 2.0 a second; the version column refused 1 write that came second.`},
		{"one sale has no rate", "never-oversold/unfenced", history.Use{Name: history.Inventory, Stock: 1}, func(b *builder) { b.sell(0, &held{node: "client-1", key: "k", owner: "a"}, 0, true) },
			`holds: 1 sale of a stock of 1, never more in the unfenced copy.`},
		{"charged twice by who knows it, and by a stranger", "charged-once/unfenced", payment, func(b *builder) {
			first, second, third := three(b)
			b.effect(sec+ms, second, "charge order 1", true, true)
			b.effect(sec+501*ms, first, "charge order 1", true, true)
			b.effect(2*sec+ms, stranger, "charge order 1", true, true)
			b.effect(2*sec+2*ms, third, "charge order 1", false, true)
			b.effect(3*sec+ms, third, "run slot 1", true, true)
		}, `violated: 2 charges too many for 1 order: 3 charges in all, 2.0 a second; 1 second charge refused, as its key was known.
client-1 (token 1) charged order 1 of "k" at 1.501 s, which client-2 (token 2) had charged at 1.001 s [3 4 6 7 9 10]
client-4 charged order 1 of "k" at 2.001 s, which client-2 (token 2) had charged at 1.001 s [4 6 7 12 13]`},
		{"what no fence stops", "charged-once/fenced", payment, func(b *builder) {
			first, _, third := three(b)
			b.effect(sec+ms, first, "charge order 1", true, true)
			b.effect(sec+501*ms, first, "charge order 1", true, true)
			b.effect(sec+502*ms, third, "charge order 2", true, true)
			b.effect(sec+503*ms, third, "charge order 2", true, true)
			b.effect(sec+504*ms, stranger, "charge order 2", true, true)
		}, `violated: 3 charges too many for 2 orders: 5 charges in all, 8.0 a second.
client-1 (token 1) charged order 1 of "k" at 1.501 s, which client-1 (token 1) had charged at 1.001 s; no fence helps: what was charged stays charged, as the card checks no token [3 6 7 9 10]
client-3 (token 3) charged order 2 of "k" at 1.503 s, which client-3 (token 3) had charged at 1.502 s [5 12 13 15 16]
client-4 charged order 2 of "k" at 1.504 s, which client-3 (token 3) had charged at 1.502 s [5 12 13 18 19]`},
		{"only the resource knows", "charged-once/unfenced", payment, func(b *builder) {
			b.effect(0, stranger, "charge order 1", true, true)
			b.noted()
			b.effect(ms, stranger, "charge order 1", true, true)
			b.noted().Process = 3
		}, `violated: 1 charge too many for 1 order: 2 charges in all, 1000.0 a second.
process 3 charged order 1 of "k" at 0.001 s, which "stranger", of whose client nothing is recorded, had charged at 0.000 s [0 1]`},
		{"torn", "no-interleaving/unfenced", file, func(b *builder) {
			first, second, _ := three(b)
			b.effect(20*ms, first, "version 1 block 1 of 2", true, true)
			b.effect(1020*ms, second, "version 2 block 1 of 2", true, true)
			b.effect(1500*ms, second, "", true, true)
			b.effect(2020*ms, first, "version 1 block 2 of 2", true, false)
			b.effect(2500*ms, second, "version 2 block 2 of 2", false, true)
		}, `violated: 1 writer went on behind another's blocks in the unfenced file, of 3 blocks by 2 writers; 1 block refused by its token.
client-1 (token 1) wrote "version 1 block 2 of 2" of "k" at 2.020 s behind "version 2 block 1 of 2" of client-2 (token 2): between its own blocks stand those of another [3 4 6 7 9 10 15 16]`},
		{"one copy alone", "no-interleaving/fenced", file, func(b *builder) {
			first, second, _ := three(b)
			b.effect(20*ms, first, "version 1 block 1 of 2", true, true)
			b.effect(120*ms, second, "version 2 block 1 of 2", true, true)
			b.effect(220*ms, first, "version 1 block 2 of 2", true, true)
			b.ops[len(b.ops)-2].Fenced = nil
		}, `holds: 2 blocks of 2 writers stand together in the fenced file, 10.0 a second.`},
		{"whole", "no-interleaving/unfenced", file, func(b *builder) {
			for i, who := range []string{"a", "b", "b"} {
				b.effect(int64(i)*100*ms, &held{node: "client-1", key: "k", owner: who}, "a block", true, true)
				b.noted()
			}
		}, `holds: 3 blocks of 2 writers stand together in the unfenced file, 10.0 a second.`},
		{"the very first", "charged-once/unfenced", payment, func(b *builder) {
			b.effect(0, stranger, "charge order 1", true, true)
			b.effect(ms, stranger, "charge order 1", true, true)
		}, `violated: 1 charge too many for 1 order: 2 charges in all, 1000.0 a second.
client-4 charged order 1 of "k" at 0.001 s, which client-4 had charged at 0.000 s [0 1 3 4]`},
		{"the very first begins", "one-rebuilder", cache, func(b *builder) {
			b.effect(0, stranger, "begin version 1", true, true)
			b.effect(10*ms, stranger, "begin version 2", true, true)
		}, `violated: 1 rebuild of 2 began while another was under way, 100.0 a second.
client-4 began to rebuild "k" at 0.010 s while client-4 was at it since 0.000 s, until 0.011 s [0 1 3 4]`},
		{"the very first sells what is not there", "never-oversold/unfenced", history.Use{Name: history.Inventory}, func(b *builder) { b.sell(0, stranger, -1, true) },
			`violated: 1 sale beyond a stock of 0 in the unfenced copy.
client-4 made sale 1 of "k" at 0.000 s, of which there were 0 in stock [0 1]`},
		{"who came second took two, or wrote over what is no number", "never-oversold/unfenced", inventory, func(b *builder) {
			b.sell(0, stranger, 1, true)
			b.sell(100*ms, stranger, 0, true) // from what it read long ago, and puts nothing back
			b.decide(200*ms, stranger, true)
			b.sell(300*ms, stranger, 1, true)
		}, `violated: 2 sales beyond a stock of 2 in the unfenced copy, 10.0 a second.
client-4 made sale 3 of "k" at 0.100 s, of which there were 2 in stock [3 4]
client-4 made sale 4 of "k" at 0.300 s, of which there were 2 in stock [9 10]`},
		{"one rebuild", "one-rebuilder", cache, func(b *builder) {
			first, _, _ := three(b)
			b.effect(20*ms, first, "begin version 1", true, false)
		}, `unknown: Only 1 rebuild: too little to tell.`},
		{"nobody else wanted to", "one-rebuilder", cache, func(b *builder) {
			h := b.grant(0, 10*ms, "client-1", "k", 1)
			b.effect(20*ms, h, "begin version 1", true, true)
			b.write(30*ms, h)
			b.effect(40*ms, h, "begin version 2", false, true)
		}, `unknown: No contention: 2 rebuilds, and nobody else wanted to.`},
		{"in the order of their begin", "one-rebuilder", cache, func(b *builder) {
			first, second, third := three(b)
			b.effect(20*ms, first, "begin version 1", true, true)
			b.write(40*ms, first)
			b.effect(30*ms, second, "begin version 1", false, true)
			b.ops[len(b.ops)-2].Time += 12 * ms // the resource hears of it last
			b.ops[len(b.ops)-1].Time += 12 * ms
			b.effect(40*ms, third, "begin version 2", true, false)
			b.effect(41*ms, third, "begin version 3", false, false)
			b.effect(42*ms, third, "begin version 4", false, false)
			b.ops[len(b.ops)-2].Unfenced = nil
			b.effect(43*ms, third, "begin version 5", true, true)
			b.noted()
		}, `violated: 2 rebuilds of 3 began while another was under way, 100.0 a second.
client-2 (token 2) began to rebuild "k" at 0.030 s while client-1 (token 1) was at it since 0.020 s, until 0.040 s [3 4 6 7 9 10 20]
client-3 (token 3) began to rebuild "k" at 0.040 s while client-2 (token 2) was at it since 0.030 s, until 0.043 s [4 5 9 11 13 20]`},
	} {
		b := use(c.use)
		c.does(b)
		setup, ops := b.done()
		if err := history.Validate(setup, ops); err != nil {
			t.Fatal(c.name, err)
		}
		p := newRunProperty(setup, ops, c.property)
		got := fmt.Sprintf("%s: %s", p.Verdict, p.Reason)
		for _, v := range p.Violations {
			got += fmt.Sprintf("\n%s %v", v.Message[:len(v.Message)-1], v.Operations)
		}
		if got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
		*stranger = held{node: "client-4", key: "k", owner: "stranger"}
	}
}

// newRunProperty judges one property of a use.
func newRunProperty(setup history.Setup, ops []history.Op, name string) Property {
	c, _ := Find(name)
	return c.check(newRun(setup, ops)).property(name)
}

// A client goes on with a rebuild until it abstains, gives the lock back or dies, whatever comes first.
func TestWhereARebuildEnds(t *testing.T) {
	for name, c := range map[string]struct {
		does func(b *builder, h *held)
		want int64 // 0: nowhere
	}{
		"nowhere": {func(*builder, *held) {}, 0},
		"it was asked whether to go on before": {func(b *builder, h *held) {
			b.op(15*ms, h.node, history.Note, history.Abstain, "k").Owner = h.owner
		}, 0},
		"another abstains": {func(b *builder, h *held) {
			b.op(30*ms, "client-2", history.Note, history.Abstain, "k").Owner = "another"
		}, 0},
		"it abstains, and gives back": {func(b *builder, h *held) {
			b.note(30*ms, h, history.Abstain)
			b.does(40*ms, h, history.Release, history.OK)
		}, 30 * ms},
		"it gives back, and abstains": {func(b *builder, h *held) {
			b.does(40*ms, h, history.Release, history.OK)
			b.note(50*ms, h, history.Abstain)
		}, 40 * ms},
		"it dies":       {func(b *builder, h *held) { b.fault(30*ms, 40*ms, 1, "kill", h.node) }, 30 * ms},
		"another dies":  {func(b *builder, h *held) { b.fault(30*ms, 40*ms, 1, "kill", "client-2") }, 0},
		"it is stopped": {func(b *builder, h *held) { b.fault(30*ms, 40*ms, 1, "pause", h.node) }, 0},
		"its death was not seen": {func(b *builder, h *held) {
			b.fault(30*ms, 40*ms, 1, "kill", h.node)
			for i := range b.ops {
				if f := b.ops[i].Fault; f != nil && f.Phase == history.Observed {
					f.Phase = history.Missed
				}
			}
		}, 0},
	} {
		b := use(history.Use{Name: history.Cache})
		h := b.grant(0, 10*ms, "client-1", "k", 1)
		b.effect(20*ms, h, "begin version 1", true, true)
		c.does(b, h)
		r := newRun(b.done())
		e := r.ByEffect["e1"].Invoke
		got := int64(0)
		if i := r.gaveUp(h.owner, e); i >= 0 {
			got = r.Ops[i].Time - origin
		}
		if got != c.want {
			t.Errorf("%s: at %d, want %d", name, got, c.want)
		}
	}
}

// Where nobody takes a lock, the copy that a version column guards is judged all the same.
func TestWhatIsPromisedOfASale(t *testing.T) {
	s := history.Setup{}
	if ok, why := tokenedOrLockless(s); ok || why != "The lock gives no fencing token." {
		t.Error(ok, why)
	}
	if s.Use.Lockless = true; !first(tokenedOrLockless(s)) {
		t.Error("not without a lock")
	}
	if s.Use.Lockless, s.Promise.Token = false, true; !first(tokenedOrLockless(s)) {
		t.Error("not with a token")
	}
}

// Of one, and of many at once, there is no rate.
func TestRate(t *testing.T) {
	r := &run{Trace: &trace.Trace{Ops: []history.Op{{Time: 0}, {Time: sec}, {Time: sec}}}}
	for _, c := range []struct {
		n, first, last int
		want           string
	}{{1, 0, 1, ""}, {2, 1, 2, ""}, {2, 0, 1, ", 1.0 a second"}, {3, 0, 2, ", 2.0 a second"}, {0, -1, -1, ""}} {
		if got := r.rate(c.n, c.first, c.last); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

func first(ok bool, _ string) bool { return ok }
