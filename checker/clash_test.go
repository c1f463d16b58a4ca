package checker

import (
	"fmt"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
)

// clash draws sessions of one key that get into each other's way: each is granted,
// acts, and mostly gives back. Times are in ms and few, so that many are equal.
func clash(t *rapid.T) (history.Setup, []history.Op) {
	c := clashes{t: t, setup: history.Setup{Lease: 12e6, Keys: []string{"k"}, Clients: []string{"c0", "c1", "c2", "c3"}}}
	c.tokens = c.one("tokens", "none", "rising", "any")
	c.setup.Promise.Token, c.setup.Promise.Leased = c.tokens != "none", c.one("leased", "yes", "no") == "yes"
	c.setup.Fencing, c.setup.FenceOn = c.one("fencing", "at-least", "strict"), c.one("fence on", "write", "read")
	for i := range c.number("sessions", 6) {
		c.session(int(i))
	}
	history.Sort(c.ops)
	c.resource()
	if err := history.Validate(c.setup, c.ops); err != nil {
		t.Fatal(err)
	}
	return c.setup, c.ops
}

type clashes struct {
	t      *rapid.T
	setup  history.Setup
	tokens string
	ops    []history.Op
	at     int64 // of the session that is drawn
}

func (c *clashes) number(name string, most int64) int64 {
	return rapid.Int64Range(0, most).Draw(c.t, name)
}

func (c *clashes) one(name string, of ...string) string { return rapid.SampledFrom(of).Draw(c.t, name) }

func (c *clashes) add(i int, typ history.Type, f history.F) *history.Op {
	op := history.Op{Time: c.at * ms, Mono: (c.at + 7) * ms, Node: fmt.Sprint("c", i%4), Type: typ, F: f, Key: "k", Owner: fmt.Sprint("o", i)}
	if typ != history.Note {
		op.Process = i + 1
	}
	c.ops = append(c.ops, op)
	return &c.ops[len(c.ops)-1]
}

// claim lets an answer claim a lease since its request was sent.
func (c *clashes) claim(op *history.Op, sent int64) {
	if op.Sent = sent * ms; c.setup.Promise.Leased {
		op.Lease, op.Deadline = 12*ms, (sent+12+7+c.number("long", 1))*ms
	}
}

func (c *clashes) session(i int) {
	c.at = c.number("asked", 30)
	c.add(i, history.Invoke, history.Acquire).Owner = ""
	sent := c.at + c.number("sent", 6)
	c.at = sent + c.number("answered", 14)
	ok := c.add(i, history.OK, history.Acquire)
	c.claim(ok, sent)
	switch c.tokens {
	case "rising":
		ok.Token = int64(i + 1)
	case "any":
		ok.Token = c.number("token", 6)
	}
	token := ok.Token
	for j := range c.number("steps", 3) {
		c.at += c.number("works", 9)
		switch c.one("step", "write", "write", "read", "extend", "suspended", "resumed", "lost", "look") {
		case "write":
			if !c.write(i, fmt.Sprint(i, "-", j), token) {
				return
			}
		case "read":
			c.add(i, history.Note, history.ReadSeen).Token = token
		case "extend":
			c.add(i, history.Invoke, history.Extend)
			sent := c.at
			c.at += c.number("answered", 2)
			done := c.add(i, history.OK, history.Extend)
			if c.claim(done, sent); c.number("refused", 4) == 0 {
				done.Type, done.Lease, done.Deadline = history.Fail, 0, 0
			}
		case "suspended":
			c.add(i, history.Note, history.Suspended)
		case "resumed":
			c.add(i, history.Note, history.Resumed)
		case "lost":
			c.add(i, history.Note, history.Lost)
		case "look":
			op := c.add(i, history.Note, history.Holder)
			op.Owner, op.Sent = fmt.Sprint("o", c.number("holder", 6)), op.Time-c.number("looks for", 3)*ms
		}
	}
	for range c.number("gives back", 2) {
		c.at += c.number("holds", 9)
		c.add(i, history.Invoke, history.Release)
		c.at += c.number("answered", 2)
		done := c.add(i, history.OK, history.Release)
		if done.Type = history.Type(c.one("release", string(history.OK), string(history.OK), string(history.Fail), string(history.Info))); done.Type == history.Info {
			return
		}
	}
}

// write is applied while it is under way, or never, and mostly answered.
func (c *clashes) write(i int, value string, token int64) (answered bool) {
	write := func(typ history.Type, f history.F) {
		op := c.add(i, typ, f)
		op.Value, op.Token, op.Unfenced, op.Fenced = value, token, &history.Copy{}, &history.Copy{}
	}
	write(history.Invoke, history.Write)
	if c.at += c.number("on the wire", 3); c.number("vanishes", 9) > 0 {
		write(history.Note, history.Apply)
	}
	c.at += c.number("answered", 1)
	if c.number("lost", 6) == 0 {
		write(history.Info, history.Write)
		return false
	}
	write(history.OK, history.Write)
	return true
}

// resource lets both copies decide, in the order of time and not always rightly.
func (c *clashes) resource() {
	values := [2][]string{{""}, {""}} // of each copy, as they came
	accepted := map[string][2]bool{}
	for i := range c.ops {
		op := &c.ops[i]
		switch {
		case op.F == history.Apply:
			said := [2]bool{}
			for side, copy := range []*history.Copy{op.Unfenced, op.Fenced} {
				past := values[side]
				copy.Previous = past[len(past)-1]
				if c.number("forgets", 9) == 0 {
					copy.Previous = past[c.number("previous", int64(len(past)-1))]
				}
				if copy.Base = copy.Previous; c.number("unseen", 3) == 0 {
					copy.Base = past[c.number("base", int64(len(past)-1))]
				}
				copy.Token = c.number("registered", 6)
				if copy.Accepted = c.number("accepted", 2) > 0; copy.Accepted {
					values[side] = append(past, op.Value)
				}
				said[side] = copy.Accepted
			}
			accepted[op.Value] = said
		case op.F == history.Write && op.Type == history.OK:
			said, applied := accepted[op.Value]
			if !applied {
				said = [2]bool{c.number("claimed", 2) > 0, c.number("claimed", 2) > 0}
			}
			op.Unfenced.Accepted, op.Fenced.Accepted = said[0], said[1]
		}
	}
}
