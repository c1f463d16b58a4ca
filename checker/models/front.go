package models

import (
	"fmt"
	"math"
	"slices"

	"github.com/dlmtest/dlmtest/history"
)

// operation is one operation while it is pending and as it ends. It is reused:
// who keeps it copies it.
type operation struct {
	Event              // of its call; at its end with what the end told
	call, ret Ref      // ret: of its end; of one that never ended, the end of the history
	owner     *owner   // nil: the model has none
	slot      int      // in keyLog.pending
	hold      *hold    // of a release: what it gives back; of models with holds
	mark      int      // of the model: what it saw at the call
	floor     grant    // of leases: the greatest token at the call
	rival     *session // of a renewal: what lasted at the call; of windows
	untold    bool     // its answer would have told the owner, and nobody knows it
}

// who names the client in a message.
func (o *operation) who() string { return who(o.owner, o.Process) }

func who(o *owner, process int) string {
	if o != nil && o.name != "" {
		return o.name
	}
	return fmt.Sprintf("process %d", process)
}

// client is a process with its pending operation.
type client struct {
	busy  bool
	op    operation
	key   *keyLog
	owner *owner // its last, of key
}

// rules is what a model wants of each event.
type rules struct {
	name   string
	fs     []F
	owners bool
	goesOn bool // an owner may go on after an acquire of unknown outcome, by another process
	gives  bool // and after a release of unknown outcome
	times  bool
	check  func(*Event) string // what else is wrong with what returned OK; nil: nothing
	judge  func(*keyLog, *found) judge
}

// front reads events, checks what every model assumes, and hands operations to
// the judges of their keys. It keeps the processes and owners that are busy or
// hold something, some idle ones, a bit of each retired process and eight bytes
// of each retired owner.
type front struct {
	rules
	found    *found
	counts   Counts
	err      error
	last     int64
	clients  map[int]*client
	spare    []*client // of retired processes, to be used again
	limit    int
	retired  history.Processes
	keys     map[string]*keyLog
	key      *keyLog // of the last event
	passes   bool    // over renewals
	collects bool    // operations for Porcupine, which takes what no sweep can
	fit      int     // grants that have what the model needs
	// unjudged are keys whose history breaks an assumption, in the order in which they did.
	unjudged []*keyLog
}

// unjudgedKept is how many keys Result names that cannot be judged.
const unjudgedKept = 20

// idleKept is how many idle processes and owners are kept before some are forgotten.
const idleKept = 4096

func newFront(r rules, o Options) *front {
	return &front{rules: r, found: newFound(o.Keep), clients: map[int]*client{}, limit: idleKept, keys: map[string]*keyLog{},
		passes: slices.Contains(r.fs, Release) && !slices.Contains(r.fs, Extend)}
}

// Add takes the next event.
func (f *front) Add(e Event) error {
	if f.err != nil {
		return f.err
	}
	if why := f.take(&e); why != "" {
		f.err = fmt.Errorf("%s: %s", Ref{Index: f.counts.Events, Line: e.Line}, why)
		return f.err
	}
	f.counts.Events++
	return nil
}

func (f *front) take(e *Event) (why string) {
	switch {
	case f.times && e.Time == 0 && !e.Timed:
		return "an event without a time; this model needs them"
	case e.Time < f.last && e.Time != 0:
		return fmt.Sprintf("the clock goes back from %d to %d", f.last, e.Time)
	}
	f.last = max(f.last, e.Time)
	if f.passes && e.F == Extend {
		f.counts.Passed++
		return ""
	}
	c := f.clients[e.Process]
	if c == nil && f.retired.Has(e.Process) {
		return fmt.Sprintf("process %d goes on after an outcome that is unknown", e.Process)
	}
	at := Ref{f.counts.Events, e.Line, e.Time}
	if e.Type == history.Invoke {
		return f.call(c, e, at)
	}
	return f.done(c, e, at)
}

func (f *front) call(c *client, e *Event, at Ref) (why string) {
	switch {
	case c != nil && c.busy:
		return fmt.Sprintf("process %d calls %s while its %s is pending", e.Process, e.F, c.op.F)
	case !slices.Contains(f.fs, e.F):
		return fmt.Sprintf("%q is no operation of %s: it has %q", e.F, f.name, f.fs)
	}
	if c == nil {
		c = f.newClient(e.Process)
	}
	k := f.keyOf(e.Key)
	if f.owners && k.broken == "" {
		if why := f.own(c, k, e); why != "" {
			f.breaks(k, at, why)
		}
	}
	c.busy, c.key = true, k
	op := &c.op // field by field: a whole new one would be copied twice
	op.Event, op.call, op.owner, op.slot, op.hold, op.rival, op.untold = *e, at, c.owner, len(k.pending), nil, nil, false
	if k.broken != "" {
		op.owner, c.owner = nil, nil
		return ""
	}
	if why := k.judge.call(op); why != "" {
		if f.counts.OK == 0 && !k.beyond { // there is nothing that the model fits
			return why
		}
		f.breaks(k, at, why)
		op.owner, c.owner = nil, nil
		return ""
	}
	k.pending = append(k.pending, op)
	return ""
}

// own finds the owner of a call.
func (f *front) own(c *client, k *keyLog, e *Event) (why string) {
	aside := e.F == Extend && f.strict() // what cannot be lost may be renewed in the background
	o := c.owner
	if o == nil || c.key != k || o.gone || o.name != e.Owner {
		if o = k.ownerOf(e.Owner, e.Process); o == nil {
			return fmt.Sprintf("owner %s is used again after an outcome that is unknown", e.Owner)
		}
		c.owner = o
	}
	if why := f.goingOn(k, o, e); why != "" {
		return why
	}
	if aside {
		return ""
	}
	if o.pending {
		return fmt.Sprintf("%s calls %s while another operation of that owner is pending", who(o, e.Process), e.F)
	}
	o.pending = true
	return ""
}

// goingOn says that no sweep can judge what an owner does from here on. What is collected
// for Porcupine goes on.
func (f *front) goingOn(k *keyLog, o *owner, e *Event) (why string) {
	switch {
	case !o.unsure:
	case f.collects:
		k.beyond = true
	default:
		why = fmt.Sprintf("%s goes on after a release of unknown outcome, which may end what it holds at any time: only "+
			"Porcupine can judge that", who(o, e.Process))
	}
	return why
}

// strict says that the model is of a lock that cannot be lost.
func (f *front) strict() bool { return f.name == "fenced-mutex" }

// breaks ends the judgement of a key whose history breaks an assumption. What was
// found until then stands: a history whose beginning is not the model's is not either.
func (f *front) breaks(k *keyLog, at Ref, why string) {
	pending := slices.SortedFunc(slices.Values(k.pending), func(a, b *operation) int { return a.call.Index - b.call.Index })
	for _, op := range pending {
		unknown := *op
		unknown.Type, unknown.ret = history.Info, Ref{Index: f.counts.Events, Time: f.last}
		if f.collects { // no event of the history is its end
			unknown.ret.Index = math.MaxInt
		}
		k.judge.done(&unknown)
		op.owner = nil
	}
	k.judge.end()
	k.broken = fmt.Sprintf("%s: %s", at, why)
	k.pending, k.owners, k.unsure, k.judge = nil, nil, nil, nil
	f.unjudged = append(f.unjudged, k)
}

func (f *front) newClient(process int) *client {
	if len(f.clients) >= f.limit {
		for p, c := range f.clients {
			if !c.busy {
				delete(f.clients, p)
			}
		}
		f.limit = max(idleKept, 2*len(f.clients))
	}
	c := &client{}
	if last := len(f.spare) - 1; last >= 0 {
		c, f.spare = f.spare[last], f.spare[:last]
	}
	f.clients[process] = c
	return c
}
