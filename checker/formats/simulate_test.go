package formats

import (
	"fmt"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/checker/models"
	"github.com/dlmtest/dlmtest/history"
)

// simLease is in ns, and so are the times of a simulation.
const simLease = 20

// sim is a lock with its clients, which now and then does what it must not. Its history
// knows everything; what a file of some shape tells of it may be less.
type sim struct {
	t       *rapid.T
	model   string
	tokens  bool
	times   bool
	now     int64
	token   int64
	next    int // process
	names   int
	values  int
	held    map[string][]simHold // by key
	clients []*simClient
	events  []models.Event
}

type simHold struct {
	owner  string
	shared bool
	ends   int64
}

type simClient struct {
	process int
	name    string
	holds   map[string]int  // as it believes, by key
	shared  map[string]bool // of these, as a reader
	call    *models.Event
}

// isLease says that grants of a model end by themselves.
func isLease(model string) bool {
	return model == "lease" || model == "lease-untimed" || model == "lease-windows" || model == models.Claims
}

// simulate draws a history for a model.
func simulate(t *rapid.T, model string) []models.Event {
	s := &sim{t: t, model: model, held: map[string][]simHold{}}
	s.tokens = model == "fenced-mutex" || model == "fenced-register" || isLease(model) && model != "lease-windows" && rapid.Bool().Draw(t, "tokens")
	s.times = rapid.Bool().Draw(t, "times") || isLease(model)
	keys := []string{"a"}
	if rapid.Bool().Draw(t, "keys") {
		keys = []string{"a", "b"}
	}
	for range rapid.IntRange(2, 4).Draw(t, "clients") {
		c := &simClient{}
		s.anew(c, true)
		s.clients = append(s.clients, c)
	}
	for range rapid.IntRange(4, 40).Draw(t, "events") {
		if s.now += rapid.Int64Range(0, 8).Draw(t, "passes"); s.now == 0 {
			s.now = 1
		}
		c := rapid.SampledFrom(s.clients).Draw(t, "client")
		key := rapid.SampledFrom(keys).Draw(t, "key")
		switch {
		case c.call != nil:
			s.end(c)
		case !isLocks(model):
			s.callRegister(c, key)
		default:
			s.callLock(c, key)
		}
	}
	return s.events
}

func isLocks(model string) bool {
	switch model {
	case "register", "cas-register", "kv", "fenced-register":
		return false
	}
	return true
}

// anew gives a client a new process, and perhaps a new name.
func (s *sim) anew(c *simClient, named bool) {
	s.next++
	c.process = s.next
	c.holds, c.shared = map[string]int{}, map[string]bool{}
	if named && s.model != "ownerless" && isLocks(s.model) {
		s.names++
		c.name = fmt.Sprintf("c%d", s.names)
	}
}

func (s *sim) seldom(what string, of int) bool { return rapid.IntRange(1, of).Draw(s.t, what) == 1 }

func (s *sim) emit(e models.Event) {
	if s.times {
		e.Time = s.now
	}
	s.events = append(s.events, e)
}

func (s *sim) callLock(c *simClient, key string) {
	e := models.Event{Process: c.process, Type: history.Invoke, Key: key, Owner: c.name, F: models.Acquire}
	switch holds := c.holds[key] > 0 || s.seldom("strange", 25); {
	case holds && isLease(s.model) && s.seldom("renews", 3):
		e.F = models.Extend
	case holds && !(s.model == "reentrant" && s.seldom("again", 3)):
		e.F = models.Release
		if c.shared[key] {
			e.F = models.ReleaseR
		}
	case s.model == "rwlock" && rapid.Bool().Draw(s.t, "reader"):
		e.F = models.AcquireR
	case s.model == "try":
		e.F = models.Try
	}
	s.emit(e)
	c.call = &e
}

func (s *sim) callRegister(c *simClient, key string) {
	e := models.Event{Process: c.process, Type: history.Invoke, Key: key, F: models.Read}
	s.values++
	switch kind := rapid.IntRange(0, 3).Draw(s.t, "kind"); {
	case kind == 0 && s.model == "cas-register":
		e.F, e.Old, e.Value = models.CAS, fmt.Sprint(rapid.IntRange(1, s.values).Draw(s.t, "old")), fmt.Sprint(s.values)
	case kind == 0 && s.model == "kv":
		e.F, e.Value = models.Append, "x"
	case kind <= 1:
		e.F, e.Value = models.Write, fmt.Sprint(s.values)
		if s.model == "fenced-register" {
			e.Token = rapid.Int64Range(1, 4).Draw(s.t, "token")
		}
	}
	s.emit(e)
	c.call = &e
}

// end ends what a client has called.
func (s *sim) end(c *simClient) {
	e := *c.call
	e.Type = history.OK
	unknown := s.seldom("unknown", 8)
	if isLocks(s.model) {
		if !s.serve(c, &e, unknown) {
			return // it waits
		}
	} else {
		s.store(&e)
	}
	if c.call = nil; unknown {
		e.Type = history.Info
		if e.F == models.Read {
			e.Value = ""
		}
		if isLocks(s.model) {
			e.Token, e.Lease, e.Refused = 0, 0, false
		}
	}
	s.emit(e)
	if unknown {
		s.anew(c, !s.seldom("keeps its name", 2))
	}
}

// serve lets the lock answer; false: not yet.
func (s *sim) serve(c *simClient, e *models.Event, unknown bool) bool {
	mine := -1
	hold := s.held[e.Key]
	if isLease(s.model) { // what has ended is gone
		for i := len(hold) - 1; i >= 0; i-- {
			if hold[i].ends < s.now {
				hold = append(hold[:i:i], hold[i+1:]...)
			}
		}
	}
	for i := range hold {
		if hold[i].owner == c.name && (s.model != "ownerless" || mine < 0) {
			mine = i
		}
	}
	s.held[e.Key] = hold
	switch e.F {
	case models.Extend:
		if mine < 0 && !s.seldom("lies", 10) {
			e.Type, e.Refused = history.Fail, s.model == models.Claims
			return true
		}
		if mine >= 0 {
			hold[mine].ends = s.now + simLease
		}
		e.Lease = simLease
	case models.Release, models.ReleaseR:
		if mine < 0 && !s.seldom("lies", 10) {
			e.Type, e.Refused = history.Fail, s.model == models.Claims
			c.holds[e.Key] = 0
			return true
		}
		if unknown && rapid.Bool().Draw(s.t, "no effect") {
			return true
		}
		c.holds[e.Key] = max(c.holds[e.Key]-1, 0)
		if mine >= 0 {
			s.held[e.Key] = append(hold[:mine:mine], hold[mine+1:]...)
		}
	default:
		return s.grant(c, e, unknown)
	}
	return true
}

// grant lets the lock answer to who wants it.
func (s *sim) grant(c *simClient, e *models.Event, unknown bool) bool {
	hold := s.held[e.Key]
	free := len(hold) == 0
	switch s.model {
	case "semaphore":
		free = len(hold) < 2
	case "reentrant":
		free = free || hold[0].owner == c.name
	case "rwlock":
		free = free || e.F == models.AcquireR && hold[0].shared
	}
	switch {
	case unknown && rapid.Bool().Draw(s.t, "no effect"):
		return true
	case !free && e.F == models.Try && !unknown:
		e.Type = history.Fail
		return true
	case !free && !s.seldom("breaks", 30):
		return unknown
	}
	s.held[e.Key] = append(hold, simHold{c.name, e.F == models.AcquireR, s.now + simLease})
	if s.tokens {
		s.token++
		e.Token = s.token
		if s.seldom("falls", 30) {
			e.Token = max(1, s.token-2)
		}
	}
	if isLease(s.model) {
		e.Lease = simLease
	}
	if !unknown {
		c.holds[e.Key]++
		c.shared[e.Key] = e.F == models.AcquireR
	}
	return true
}

// store lets the register answer.
func (s *sim) store(e *models.Event) {
	now := simHold{}
	if len(s.held[e.Key]) > 0 {
		now = s.held[e.Key][0]
	}
	switch {
	case e.F == models.Read:
		if e.Value = now.owner; s.seldom("wrong", 25) {
			e.Value = fmt.Sprint(rapid.IntRange(1, s.values).Draw(s.t, "read"))
		}
		return
	case e.F == models.CAS && e.Old != now.owner, e.Token < now.ends:
		e.Type = history.Fail
		return
	case e.F == models.Append:
		now.owner += e.Value
	default:
		now.owner = e.Value
	}
	now.ends = e.Token
	s.held[e.Key] = []simHold{now}
}
