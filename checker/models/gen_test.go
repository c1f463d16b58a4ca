package models

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
)

// shape is what the random histories of a model are made of.
type shape struct {
	model  string
	o      Options
	take   []F // operations that take, or write
	give   []F // operations that give back, or read
	renew  bool
	token  bool
	lease  bool
	value  bool
	unique bool // no value is written twice
	goes   bool // owners go on after an unknown outcome
	raise  bool // renewals answer tokens
	no     bool // renewals and releases are refused by an answer
	// crowded has few tokens and operations that last long, so that writes of
	// one token compete for explaining a refusal.
	crowded bool
}

func (s shape) String() string {
	return fmt.Sprintf("%s/%d/%d%s%s%s", s.model, s.o.permits(), s.o.Lease, map[bool]string{true: "/crowded"}[s.crowded],
		map[bool]string{true: "/goes"}[s.goes], map[bool]string{true: "/tokens"}[s.token && s.model == "claims"])
}

var shapes = []shape{
	{model: "mutex", take: []F{Acquire, Try}, give: []F{Release}},
	{model: "mutex", goes: true, take: []F{Acquire, Try}, give: []F{Release}},
	{model: "semaphore", goes: true, o: Options{Permits: 2}, take: []F{Acquire}, give: []F{Release}},
	{model: "fenced-mutex", goes: true, raise: true, renew: true, take: []F{Acquire}, give: []F{Release}, token: true},
	{model: "claims", goes: true, no: true, take: []F{Acquire, Try}, give: []F{Release}, renew: true},
	{model: "claims", goes: true, no: true, raise: true, take: []F{Acquire, Try}, give: []F{Release}, token: true, renew: true},
	{model: "lease-untimed", goes: true, raise: true, take: []F{Acquire}, give: []F{Release}, token: true, renew: true},
	{model: "lease-untimed", take: []F{Acquire}, give: []F{Release}, renew: true},
	{model: "lease", raise: true, take: []F{Acquire}, give: []F{Release}, token: true, lease: true, renew: true},
	{model: "reentrant", take: []F{Acquire}, give: []F{Release}, token: true},
	{model: "semaphore", o: Options{Permits: 2}, take: []F{Acquire}, give: []F{Release}},
	{model: "semaphore", o: Options{Permits: 3}, take: []F{Acquire}, give: []F{Release}},
	{model: "rwlock", take: []F{Acquire, AcquireR, AcquireR}, give: []F{Release, ReleaseR}},
	{model: "try", take: []F{Acquire, Try, Try}, give: []F{Release}},
	{model: "ownerless", take: []F{Acquire}, give: []F{Release}},
	{model: "ownerless", o: Options{Permits: 2}, take: []F{Acquire}, give: []F{Release}},
	{model: "fenced-mutex", take: []F{Acquire}, give: []F{Release}, token: true},
	{model: "lease", take: []F{Acquire}, give: []F{Release}, token: true, lease: true, renew: true},
	{model: "lease-untimed", take: []F{Acquire}, give: []F{Release}, token: true, renew: true},
	{model: "lease-windows", take: []F{Acquire}, give: []F{Release}, lease: true, renew: true},
	{model: "lease-windows", o: Options{Lease: 9}, take: []F{Acquire}, give: []F{Release}, renew: true},
	{model: "lease", o: Options{Lease: 9}, take: []F{Acquire, Try}, give: []F{Release}, token: true, renew: true},
	{model: "fenced-register", crowded: true, take: []F{Write, Write, Write}, give: []F{Read}, token: true, value: true},
	{model: "fenced-register", take: []F{Write, Write}, give: []F{Read}, token: true, value: true},
	{model: "register", unique: true, take: []F{Write}, give: []F{Read}, value: true},
	{model: "register", take: []F{Write}, give: []F{Read}, value: true},
	{model: "cas-register", take: []F{Write, CAS}, give: []F{Read}, value: true},
	{model: "kv", take: []F{Write, Append}, give: []F{Read}, value: true},
}

// draws takes small numbers from rapid, evenly, so that it can shrink them.
type draws struct{ t *rapid.T }

func (d draws) n(n int) int {
	x := rapid.Uint32Range(0, 1<<20).Draw(d.t, "n")
	return int(x * 2654435761 >> 8 % uint32(n))
}

func (d draws) chance(percent int) bool { return d.n(100) >= 100-percent }

// player is one client of a random history.
type player struct {
	process int
	owner   string
	busy    bool
	placed  bool
	op      Op
	holds   int
}

// play is a random history as it is made.
type play struct {
	draws
	shape
	spec    spec
	state   any
	wild    int // percent of operations whose outcome is invented
	unknown int
	bare    int  // percent of grants without a token, where some may have none
	lives   bool // no outcome is unknown that would keep the lock for ever
	named   bool
	events  []Event
	time    int64
	top     int64
	written int
	next    int // process
}

// random draws a history of ops operations: of a lock that works, of one that
// sometimes does not, or of none at all; some then have two events exchanged, or
// an answer changed.
func random(t *rapid.T, s shape, ops int) []Event {
	p := &play{draws: draws{t}, shape: s}
	p.wild = []int{0, 0, 8, 100}[p.n(4)]
	p.unknown = []int{0, 5, 15, 30}[p.n(4)]
	p.bare = []int{0, 0, 20}[p.n(3)]
	return p.play(ops)
}

func (p *play) play(ops int) []Event {
	p.spec = specs[p.model]
	p.state = p.spec.init(p.o)
	p.named = p.goes || p.chance(30)
	players := make([]*player, 2+p.n(5))
	for i := range players {
		players[i] = p.player()
	}
	started := 0
	for turns := 12 * ops; turns > 0; turns-- {
		c := players[p.n(len(players))]
		switch {
		case p.crowded && !c.busy && started >= ops-2 && turns > 4*ops:
		case !c.busy && started < ops:
			p.begin(c)
			started++
		case !c.busy:
		case p.chance(p.unknown/2) && !(p.lives && p.ends(c)):
			p.say(c, history.Info)
			p.replace(c)
		case !c.placed:
			p.place(c)
		case p.crowded && p.chance(60):
		default:
			p.finish(c)
		}
	}
	if p.chance(40) {
		p.perturb()
	}
	return p.events
}

func (p *play) player() *player {
	p.next++
	c := &player{process: p.next}
	if p.named {
		c.owner = fmt.Sprintf("o%d", p.next)
	}
	return c
}

// ends says whether nobody could go on after the outcome of c was unknown, as its hold
// is never given back.
func (p *play) ends(c *player) bool {
	switch {
	case p.value:
		return false
	case slices.Contains(p.give, c.op.F):
		return !c.placed || c.holds > 1
	}
	return c.placed || c.holds > 0
}

// replace retires a process. The owner goes on if it only does not know about a renewal.
func (p *play) replace(c *player) {
	old := *c
	*c = *p.player()
	if old.op.F == Extend && old.owner != "" || p.goes && p.chance(60) {
		c.owner, c.holds = old.owner, old.holds
	}
}

func (p *play) begin(c *player) {
	fs := p.take
	if c.holds > 0 != p.chance(12) {
		fs = p.give
	}
	if p.model == "ownerless" || p.value {
		fs = [][]F{p.take, p.give}[p.n(2)]
	}
	if p.renew && p.chance(map[bool]int{true: 40, false: 5}[c.holds > 0]) {
		fs = []F{Extend}
	}
	owner := c.owner
	if owner == "" {
		owner = fmt.Sprintf("process %d", c.process)
	}
	c.op = Op{F: fs[p.n(len(fs))], Type: history.OK, Process: c.process, Owner: owner, Call: len(p.events)}
	c.busy, c.placed = true, false
	if p.value && c.op.F != Read {
		p.written++
		c.op.Value, c.op.Old = fmt.Sprint(p.written), fmt.Sprint(p.n(p.written))
		if c.op.Old == "0" {
			c.op.Old = ""
		}
		if p.model != "fenced-register" && !p.unique {
			c.op.Value = fmt.Sprint(1 + p.written%3)
		}
		if p.token {
			c.op.Token = int64(1 + p.n(4))
			if p.crowded {
				c.op.Token = int64(1 + p.n(10)/4)
			}
		}
	}
	if p.lease && c.op.F == Extend { // it asks for so much
		c.op.Lease = 1 + int64(p.n(25))
	}
	p.say(c, history.Invoke)
	c.op.Called = p.time
}

// place lets an operation happen, if the lock allows the outcome that is tried.
func (p *play) place(c *player) {
	op := &c.op
	op.Type = history.OK
	if p.spec.asserts != nil && !p.no && p.spec.asserts(op) && p.chance(50) || p.chance(4) {
		op.Type = history.Fail
	}
	if op.Refused = p.no && !slices.Contains(p.take, op.F) && p.chance(20); op.Refused {
		op.Type = history.Fail
	}
	if p.raise && op.F == Extend && p.chance(50) {
		op.Token = max(0, p.top+int64(p.n(3))-int64(p.n(2)))
	}
	takes := slices.Contains(p.take, op.F) && !p.value
	if p.token && takes {
		if p.raise && p.chance(20) {
			op.Token = p.top
		} else if op.Token = p.top + 1 + int64(p.n(2)); p.chance(p.wild / 4) {
			op.Token = 1 + int64(p.n(6))
		}
		if p.raise && p.model != "fenced-mutex" && p.chance(p.bare) {
			op.Token = 0
		}
		if p.model == "reentrant" {
			s := p.state.(again)
			if op.Token = s.token; op.Token == 0 {
				op.Token = s.top + 1
			}
			if p.chance(p.wild / 4) {
				op.Token = s.top
			}
			op.Token *= int64(p.n(2)) // or none
		}
	}
	if p.lease && takes {
		op.Lease = 1 + int64(p.n(25))
	}
	if op.F == Read {
		op.Value = []string{"", fmt.Sprint(1 + p.n(p.written+1))}[p.n(2)]
		if s, ok := p.state.(stored); ok && p.chance(70) {
			op.Value = s.value
		}
		if s, ok := p.state.(string); ok && p.chance(70) {
			op.Value = s
		}
	}
	if op.Type == history.Fail && (p.spec.asserts == nil || !p.spec.asserts(op)) {
		c.placed = true
		return
	}
	op.Done, op.Return = p.time, len(p.events)
	after, legal := p.spec.step(p.o, p.state, op)
	if p.chance(p.wild) {
		c.placed = true
		return
	}
	if !legal {
		return
	}
	p.state, c.placed = after, true
	if (takes || p.raise) && op.Type == history.OK {
		p.top = max(p.top, op.Token)
	}
}

func (p *play) finish(c *player) {
	switch {
	case c.op.F == Extend:
	case c.op.Type == history.OK && slices.Contains(p.give, c.op.F):
		c.holds = max(0, c.holds-1)
	case c.op.Type == history.OK:
		c.holds++
	}
	p.say(c, c.op.Type)
	c.busy = false
}

func (p *play) say(c *player, typ history.Type) {
	p.time = max(1, p.time+int64(p.n(6))) // equal times, too
	e := Event{Line: len(p.events) + 1, Time: p.time, Process: c.process, Type: typ, F: c.op.F, Owner: c.owner, Value: c.op.Value, Old: c.op.Old}
	if typ == history.OK || p.value {
		e.Token, e.Lease = c.op.Token, c.op.Lease
	}
	if typ == history.Info && c.op.F == Extend && p.lease {
		e.Lease = c.op.Lease
	}
	e.Refused = typ == history.Fail && c.op.Refused
	if c.op.F == Read && typ != history.OK {
		e.Value = ""
	}
	p.events = append(p.events, e)
}

// perturb exchanges two neighbours of different processes or changes a token.
func (p *play) perturb() {
	for range 1 + p.n(3) {
		if len(p.events) < 2 {
			return
		}
		i := p.n(len(p.events) - 1)
		a, b := &p.events[i], &p.events[i+1]
		switch {
		case p.token && a.Type == history.OK && a.Token > 0 && !p.value && p.chance(50):
			a.Token += int64(p.n(3)) - 1
		case a.Process != b.Process:
			*a, *b = *b, *a
			a.Time, b.Time = b.Time, a.Time
			a.Line, b.Line = b.Line, a.Line
		}
	}
}

// text writes a history for a person.
func text(events []Event) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "  %2d t=%-4d p%d %s %s", e.Line, e.Time, e.Process, e.Type, e.F)
		if e.Owner != "" {
			fmt.Fprintf(&b, " owner=%s", e.Owner)
		}
		if e.Token+e.Lease != 0 {
			fmt.Fprintf(&b, " token=%d lease=%d", e.Token, e.Lease)
		}
		if e.Value+e.Old != "" {
			fmt.Fprintf(&b, " value=%q old=%q", e.Value, e.Old)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
