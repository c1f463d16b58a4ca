package history

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// longest is the longest duration that a setup may name. Twice it and more fits
// well into 64 bits, so no limit that the judge computes overflows.
const longest = 24 * time.Hour

// Setup is what the judge must know beside the operations. It stands in the
// first line of a history file, so the file alone can be judged. Durations are
// nanoseconds.
type Setup struct {
	Promise   Promise       `json:"promise"`
	Lease     time.Duration `json:"lease"`
	Keys      []string      `json:"keys"`
	Clients   []string      `json:"clients"`              // names of the client nodes
	Servers   []string      `json:"servers,omitempty"`    // names of the nodes of the lock service; none: not known
	Fencing   string        `json:"fencing"`              // when the fenced copy accepts a token: AtLeast or Strict; "": AtLeast
	FenceOn   string        `json:"fence_on"`             // what registers a token there: OnWrite or OnRead; "": OnWrite
	SelfFence string        `json:"self_fence,omitempty"` // what a client looks at before it writes; "": FenceNone
	Strict    bool          `json:"strict,omitempty"`     // idle overlaps count
	// FreeWithin is for how long a key may stay free while somebody waits for it; 0: the run sets no limit.
	FreeWithin time.Duration `json:"free_within,omitempty"`
	Expect     Expect        `json:"expect"`
	Kind       Kind          `json:"kind,omitempty"`    // of lock that the clients used; "": a mutex
	Permits    int           `json:"permits,omitempty"` // of each key, where Kind is Semaphore
	Use        Use           `json:"use,omitzero"`      // what the lock is used for
	// Sources are the nodes that end their records with an End note. One without it, or with
	// another number than there are, has records that are missing. None: nobody ends his.
	Sources []string `json:"sources,omitempty"`
	// Shows names the property of which this part of a history shows a violation.
	// Nothing else can be judged of it, as the rest was left out. "": it is whole.
	Shows string `json:"shows,omitempty"`
}

// AtLeast has the fenced copy accept a token that is at least the highest it has seen; Strict, one
// that no accepted write has used.
const (
	AtLeast = "at-least"
	Strict  = "strict"
)

// OnWrite has an accepted write register its token at the fenced copy; OnRead, a read too.
const (
	OnWrite = "write"
	OnRead  = "read"
)

// FenceNone: a client writes whatever it has been told. FenceDeadline: it looks at its deadline
// before. FenceSession: it looks whether it was told of a loss.
const (
	FenceNone     = "none"
	FenceDeadline = "check-deadline"
	FenceSession  = "check-session"
)

// Expect is what a scenario must have seen for its verdicts of "holds" to mean
// anything; short of it they are unknown, with counts.
type Expect struct {
	// acquires that waited while another client believed to hold the key
	Contention int `json:"contention,omitempty" yaml:"contention" jsonschema:"minimum=0,maximum=1000000"`
	// writes invoked on a superseded grant
	StaleWrites int `json:"stale_writes,omitempty" yaml:"stale-writes" jsonschema:"minimum=0,maximum=1000000"`
	// faults that were observed at their victim
	Faults int `json:"faults,omitempty" yaml:"faults" jsonschema:"minimum=0,maximum=1000000"`
	// grants of others while a fault lasted
	GrantsDuringFault int `json:"grants_during_fault,omitempty" yaml:"grants-during-fault" jsonschema:"minimum=0,maximum=1000000"`
}

// Promise is what a lock claims, for the judge: a property that is not promised
// is n/a.
type Promise struct {
	Backend string `json:"backend"`
	Leased  bool   `json:"leased"`  // a grant ends by itself at its deadline
	Token   bool   `json:"token"`   // a grant carries a fencing token
	Session bool   `json:"session"` // the client is told of the loss of its session
	Extends bool   `json:"extends"` // a grant can be renewed
	Tries   bool   `json:"tries"`   // it can be asked for without waiting
	Order   bool   `json:"order"`   // waiters are served in their order of arrival
	// What it offers beyond a mutex, which a run may use: see Kind.
	Shared   bool    `json:"shared,omitempty"`    // readers hold together, a writer alone
	Changes  bool    `json:"changes,omitempty"`   // a reader can become the writer, and the writer a reader
	Permits  bool    `json:"permits,omitempty"`   // several clients hold at once, up to a number
	Reentry  Reentry `json:"reentry,omitempty"`   // who may take again what it holds; "": nobody
	WakesOne bool    `json:"wakes_one,omitempty"` // a release wakes one waiter, however many wait
	// DriftFactor (of the lease) and DriftFixed are what the lock subtracts from
	// its validity for clock drift; zero where its algorithm claims none.
	DriftFactor float64       `json:"drift_factor,omitempty"`
	DriftFixed  time.Duration `json:"drift_fixed,omitempty"`
	// Bound is how long after the end of a lease the next grant may take.
	Bound time.Duration `json:"bound"`
	About string        `json:"about"` // one sentence for people

	// Library is the one under test, and Version is its own; "": the lock of dlmtest.
	Library string `json:"library,omitempty"`
	Version string `json:"version,omitempty"`
	// Validity says whether the lock tells until when a grant is valid.
	Validity Validity `json:"validity,omitempty"`
	// Idles: the server ends a session that stands idle with a grant, so one without a lease ends by itself, too.
	Idles bool `json:"idles,omitempty"`
	// Renews: an open session renews its grants by itself, so they do not end at their lease.
	Renews bool `json:"renews,omitempty"`
	// NoLimit: a wait for the lock ends when the lock is had; its user can neither
	// bound nor cancel it.
	NoLimit bool `json:"no_limit,omitempty"`
	// Mute: a release answers nothing, so its ok is no claim that the lock was held.
	Mute bool `json:"mute,omitempty"`
	// Survives says what may happen to servers, as long as a majority of them is left, without a change
	// to anything that the service has answered.
	Survives Survival `json:"survives,omitempty"`
}

// Survival is what a service survives of what happens to less than half of its servers; "": it does not say.
type Survival string

// Absence: servers that are stopped, cut off or slow, and come back with what they knew. Restart: also servers that
// are killed or crash, as what they have answered is on their disks. No service survives a server whose clock is wrong.
const (
	Absence Survival = "absence"
	Restart Survival = "restart"
)

// Ends says whether a grant may end although its holder lives and has not given it back.
func (p Promise) Ends() bool { return p.Leased || p.Idles }

// TellsLosses says whether a holder whose grant has ended with its session is told so.
func (p Promise) TellsLosses() bool { return p.Session && (p.Renews || !p.Leased) }

// Reentry is who counts as the holder of a reentrant lock.
type Reentry string

// A thread of a client, or the client with all its threads.
const (
	ByThread  Reentry = "thread"
	ByProcess Reentry = "process"
)

// Reference is the name of the locks of dlmtest itself, where a library could stand.
const Reference = "reference"

// LockName is what a lock under test is called in a table: "redis", and of a library
// "redis/redislock".
func LockName(backend, library string) string {
	if library == "" || library == Reference {
		return backend
	}
	return backend + "/" + library
}

// Validity is where the deadlines of a history come from. What a lock does not tell is
// not held against it: validity-bound judges only what was told.
type Validity string

// Told: the lock tells its user. Reckoned: it does not; each deadline is the send of
// the request that started the lease plus the lease asked for, and the service certainly
// owes the lock until then. Untold: it does not, and nothing can be reckoned for certain.
// Unproven: it tells, and nobody knows when the request was sent that started the lease,
// so what it tells is taken for the promise that it is and not measured itself.
const (
	Told     Validity = ""
	Unproven Validity = "unproven"
	Reckoned Validity = "reckoned"
	Untold   Validity = "untold"
)

// check refuses what no run can have been set up with.
func (s *Setup) check() error {
	switch p := s.Promise; {
	case s.Lease <= 0 || s.Lease > longest:
		return fmt.Errorf("lease %v: want more than 0s and at most %v", s.Lease, longest)
	case s.FreeWithin < 0 || s.FreeWithin > longest:
		return fmt.Errorf("free_within %v: want 0s to %v", s.FreeWithin, longest)
	case p.Bound < 0 || p.Bound > longest:
		return fmt.Errorf("bound %v: want 0s to %v", p.Bound, longest)
	case p.DriftFixed < 0 || p.DriftFixed > longest:
		return fmt.Errorf("drift_fixed %v: want 0s to %v", p.DriftFixed, longest)
	case !(p.DriftFactor >= 0 && p.DriftFactor <= 1):
		return fmt.Errorf("drift_factor %v: want 0 to 1", p.DriftFactor)
	case p.Validity != Told && p.Validity != Unproven && p.Validity != Reckoned && p.Validity != Untold:
		return fmt.Errorf("validity %q: want %s, %s or %s, or nothing where the lock tells it", p.Validity, Unproven, Reckoned, Untold)
	case len(s.Keys) == 0:
		return errors.New("keys: the list is empty; want the names of the keys that clients lock")
	case slices.Contains(s.Keys, ""):
		return fmt.Errorf("keys: name %d is empty", slices.Index(s.Keys, "")+1)
	}
	for _, client := range s.Clients {
		if slices.Contains(s.Servers, client) {
			return fmt.Errorf("servers: %q is a client, too", client)
		}
	}
	return errors.Join(twice("keys", s.Keys), twice("clients", s.Clients), twice("servers", s.Servers), s.checkWords(), s.checkKind())
}

// twice refuses a name that stands in a list twice: a server that did would be a majority by itself.
func twice(list string, names []string) error {
	sorted := slices.Sorted(slices.Values(names))
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			return fmt.Errorf("%s: %q comes twice", list, sorted[i])
		}
	}
	return nil
}

// checkWords refuses a word that means nothing, and less than nothing of what must be seen.
func (s *Setup) checkWords() error {
	for _, w := range []struct {
		name, is string
		want     []string
	}{
		{"fencing", s.Fencing, []string{AtLeast, Strict}},
		{"fence_on", s.FenceOn, []string{OnWrite, OnRead}},
		{"self_fence", s.SelfFence, []string{FenceNone, FenceDeadline, FenceSession}},
		{"reentry", string(s.Promise.Reentry), []string{string(ByThread), string(ByProcess)}},
		{"survives", string(s.Promise.Survives), []string{string(Absence), string(Restart)}},
		{"use", s.Use.Name, []string{Inventory, Payment, Cron, File, TwoKeys, Cache}},
	} {
		if w.is != "" && !slices.Contains(w.want, w.is) {
			return fmt.Errorf("%s %q: want one of %q, or nothing", w.name, w.is, w.want)
		}
	}
	if e := s.Expect; min(e.Contention, e.StaleWrites, e.Faults, e.GrantsDuringFault) < 0 {
		return fmt.Errorf("expect %+v: nothing can be seen less than 0 times", e)
	}
	if u := s.Use; min(u.Stock, u.Blocks) < 0 || u.Every < 0 || u.Every > longest {
		return fmt.Errorf("use %+v: want a stock and blocks of at least 0, and every from 0s to %v", u, longest)
	}
	return nil
}
