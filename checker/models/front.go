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
		why = fmt.Sprintf("%s goes on after a release of unknown outcome, which may end what it holds at any time: only Porcupine can judge that", who(o, e.Process))
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

func (f *front) done(c *client, e *Event, at Ref) (why string) {
	if c == nil || !c.busy {
		return fmt.Sprintf("process %d ends %s without having called it", e.Process, e.F)
	}
	op, k := &c.op, c.key
	switch {
	case e.F != op.F:
		return fmt.Sprintf("process %d ends %s, but called %s", e.Process, e.F, op.F)
	case e.Key != op.Key:
		return fmt.Sprintf("process %d ends on %q what it called on %q", e.Process, e.Key, op.Key)
	}
	op.Type, op.Refused = e.Type, e.Refused
	op.Implied = e.Implied || op.Implied && e.Owner == ""
	switch e.Type {
	case history.OK:
		f.counts.OK++
		if k.broken != "" {
			break
		}
		why, misfit := f.told(c, e)
		switch {
		case misfit && f.fit == 0 && !k.beyond: // no grant so far has what this model needs
			return why
		case why != "":
			f.breaks(k, at, why)
		case f.nobodys(op, k): // from here on nobody knows who holds, and since it was called
			f.found.drop(k.name, op.call.Index)
			f.breaks(k, at, fmt.Sprintf("%s says that its %s was ok, and for whom is not told, as it is elsewhere", op.who(), op.F))
		case taking(op.F):
			f.fit++
		}
	case history.Fail:
		f.counts.Failed++
	case history.Info:
		f.counts.Unknown++
		if k.broken == "" && e.Owner != "" {
			f.implied(c, e)
		}
		if k.broken == "" && f.name == "reentrant" && !f.collects && f.nobodys(op, k) { // it may be of the holder, in a new process
			f.breaks(k, at, fmt.Sprintf("%s does not know whether its release had an effect, and for whom is not told", op.who()))
		}
		if k.broken == "" {
			f.leaveLoose(op, k)
		}
	default:
		return fmt.Sprintf("%q is not how an operation ends", e.Type)
	}
	f.finish(c, at)
	if e.Type == history.Info {
		f.retire(c, e)
	}
	return ""
}

// told takes what an OK says beyond the call: its token, its lease, what was
// read, and the owner, where the lock makes a name for each grant. misfit says that
// it lacks what the model needs.
func (f *front) told(c *client, e *Event) (why string, misfit bool) {
	op, k := &c.op, c.key
	if e.Token != 0 {
		op.Token = e.Token
	}
	if e.Lease != 0 {
		op.Lease = e.Lease
	}
	if op.F == Read || op.F == Request {
		op.Value = e.Value
	}
	if f.owners && e.Owner != "" && e.Owner != op.owner.name {
		if op.Owner != "" || !taking(op.F) && f.holding(op) {
			return fmt.Sprintf("%s for owner %q is answered for owner %q", op.F, op.Owner, e.Owner), false
		}
		o := k.ownerOf(e.Owner, e.Process)
		if o == nil || o.pending {
			return fmt.Sprintf("owner %s is used again after an outcome that is unknown, or while it is busy", e.Owner), false
		}
		if o.hold != nil && !taking(op.F) { // it was taken for another's when it was called
			return fmt.Sprintf("%s for owner %q is answered for owner %q", op.F, op.Owner, e.Owner), false
		}
		if why := f.goingOn(k, o, e); why != "" {
			return why, false
		}
		op.owner.pending, o.pending = false, true
		op.owner, c.owner = o, o
	}
	if f.check != nil {
		if why := f.check(&op.Event); why != "" {
			return why, true
		}
	}
	return "", false
}

// implied takes the owner of an acquire of unknown outcome which no answer told, and which is
// its process's last one by how the file names owners.
func (f *front) implied(c *client, e *Event) {
	op := &c.op
	if !f.owners || !f.goesOn || !taking(op.F) || op.owner.name != "" {
		return
	}
	if o := c.key.ownerOf(e.Owner, e.Process); o != nil && !o.pending {
		op.owner.pending, o.pending = false, true
		op.owner, c.owner = o, o
	}
}

// nobodys says that a release or a renewal is for an owner whom nothing tells, of a key on
// which others are named: it may be for any of them.
func (f *front) nobodys(op *operation, k *keyLog) bool {
	return f.owners && k.named && !taking(op.F) && op.owner.name == "" && !f.holding(op) && !op.owner.lent && !(op.F == Extend && f.strict())
}

// holding says that the owner whom a call was taken for holds something.
func (f *front) holding(op *operation) bool {
	return op.owner.name != "" || op.owner.hold != nil || op.owner.session != nil || op.owner.token != 0
}

// finish takes an operation from the pending ones and has it judged.
func (f *front) finish(c *client, at Ref) {
	op, k := &c.op, c.key
	c.busy = false
	op.ret = at
	if k.broken != "" {
		return
	}
	last := len(k.pending) - 1
	k.pending[op.slot] = k.pending[last]
	k.pending[op.slot].slot = op.slot
	k.pending = k.pending[:last]
	if op.owner != nil {
		op.owner.pending = op.owner.pending && op.F == Extend && f.strict()
		op.untold = op.Type == history.Info && taking(op.F) && op.owner.name == ""
		if op.untold {
			if k.untold++; k.untold == 1 && !k.used {
				k.since = op.call.Index
			}
		}
	}
	k.judge.done(op)
}

func (f *front) retire(c *client, e *Event) {
	delete(f.clients, e.Process)
	f.spare = append(f.spare, c)
	f.retired.Add(e.Process)
	op, o, k := &c.op, c.op.owner, c.key
	c.owner = nil
	switch {
	case o == nil || k.broken != "":
	case op.F == Extend && o.name != "": // who renews in the background does so as a process of its own
	case o.name == "":
		k.forget(o)
	case !f.goesOn && !f.collects:
		k.forgetFor(o)
	default:
		o.unsure = o.unsure || !f.goesOn || !f.gives && (op.F == Release || op.F == ReleaseR)
		k.remember(o)
	}
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

// End ends what is pending as unknown and says what was found.
func (f *front) End() Result {
	r := Result{Model: f.name, Counts: f.counts}
	if f.err != nil {
		r.Reason = "the history cannot be judged: " + f.err.Error()
		return r
	}
	var open []*client
	for _, c := range f.clients {
		if c.busy {
			open = append(open, c)
		}
	}
	slices.SortFunc(open, func(a, b *client) int { return a.op.call.Index - b.op.call.Index })
	for _, c := range open {
		c.op.Type = history.Info
		if c.key.broken == "" {
			f.leaveLoose(&c.op, c.key)
		}
		f.finish(c, Ref{Index: f.counts.Events, Time: f.last})
	}
	names := make([]string, 0, len(f.keys))
	for name := range f.keys {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		k := f.keys[name]
		if k.broken == "" {
			k.judge.end()
		}
		f.explainLoose(k)
	}
	for _, k := range f.unjudged[:min(len(f.unjudged), unjudgedKept)] {
		r.Unjudged = append(r.Unjudged, keyed(k)+k.broken)
	}
	r.Counts.Unknown += len(open)
	r.Counts.Keys = len(f.keys)
	f.conclude(&r)
	return r
}

func (f *front) conclude(r *Result) {
	r.Found, r.Violations = f.found.count, f.found.kept
	switch {
	case r.Found > 0:
		r.Verdict, r.Reason = Violated, r.Violations[0].Message
	case r.Counts.Events == 0:
		r.Reason = "the history is empty"
	case r.Counts.OK == 0 && len(f.unjudged) == 0:
		r.Reason = "no operation is known to have happened"
	case len(f.unjudged) > 0:
		r.Reason = fmt.Sprintf("the history of %d of %d keys cannot be judged, nothing is wrong before that, nor with the others: %s", len(f.unjudged), len(f.keys), r.Unjudged[0])
	case f.found.doubt != "":
		r.Reason = f.found.doubt
	default:
		r.Verdict = Holds
		r.Reason = fmt.Sprintf("%d operations that returned are those of a %s", r.Counts.OK, f.name)
	}
}
