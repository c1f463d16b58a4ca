package models

import (
	"fmt"
	"time"
)

// Model is what a lock, or a register, promises of every history.
type Model struct {
	Name    string
	About   string // one sentence: what a sequence of its operations must look like
	Assumes string // of the history, checked while it is read; and what is not decided
	New     func(Options) Decider
}

// Options complete a model. The zero value is a good one.
type Options struct {
	Permits int           // of a semaphore; 0: 1
	Lease   time.Duration // of a grant that names none; 0: every grant must name its own
	Init    string        // what a register holds at first
	// Lenient reads a register as Knossos does: a failed cas, and a read of
	// nothing, say nothing. Else they are observations, as in Porcupine.
	Lenient bool
	// Tokened wants a token on every grant, higher than all before, also where its owner
	// has one: of what Porcupine is asked about lease-untimed.
	Tokened bool
	Keep    int // violations that Result keeps; 0: 1000. All are counted
	// Ask puts a history of one key to Porcupine, for the models that only
	// Porcupine decides: see Asker. nil: their verdict is unknown.
	Ask func(model string, o Options, ops []Op) string `json:"-"`
}

func (o Options) permits() int { return max(o.Permits, 1) }

// Decider decides one history.
type Decider interface {
	// Add takes the next event. An error says which assumption the history
	// breaks and on which line: there is no verdict then.
	Add(Event) error
	// End says what was found. It may be called once, after the last event.
	End() Result
}

// Models is the table of all models.
var Models = []Model{
	{"mutex", "One owner at a time, strictly: a lock that can be lost fails it.", ownersAssumed, newMutex},
	{"reentrant", "A mutex whose owner may take it again and gives it back as often.",
		ownersAssumed + " Tokens, where there are any, rise from hold to hold; a second one within a hold must be the first.", newReentrant},
	{"semaphore", "At most N permits are out.", ownersAssumed, newSemaphore},
	{"rwlock", "A writer alone, or readers.", ownersAssumed + " An owner holds once: an upgrade is a second hold.", newRWLock},
	{"try", "A mutex of which a failed try says that another owner held it.", ownersAssumed, newTry},
	{"ownerless", "A mutex, or a semaphore of N, that anybody may give back.", plainAssumed + passedOver, newOwnerless},
	{"fenced-mutex", "A mutex whose tokens rise from hold to hold.", ownersAssumed + tokensAssumed, newFencedMutex},
	{"lease", "A lock that may be lost when its lease ends, and not before; tokens rise, if there are any.",
		leasesAssumed + " Every event has a time, every grant and renewal its lease. Without tokens what is found is " +
			"certain, and holds is Porcupine's to say.", newLease},
	{"lease-untimed", "A lock that may be lost at any time; tokens rise, where there are any; only who holds can renew, " +
		"and only who was granted it can give it back.", leasesAssumed, newLeaseUntimed},
	{"lease-windows", "A lock without tokens that may be lost when its lease ends. One side only: what it finds is " +
		"certain, and it never says holds.", leasesAssumed + " Every event has a time, every grant and renewal its lease.", newLeaseWindows},
	{Claims, "A lock that may be lost at any time, but whose renewals and releases that return OK say that their owner " +
		"held it; tokens rise, where there are any.", claimsAssumed, newClaims},
	{"fenced-register", "A guarded resource: a write is refused if and only if a higher token has been seen.",
		plainAssumed + " Every write has a token, no value is written twice.", newFencedRegister},
	{"register", "A read returns what was written last.", searchAssumed, searched("register")},
	{"cas-register", "A register with compare-and-set, which fails only where the value is another.", searchAssumed, searched("cas-register")},
	{"kv", "A register with append.", searchAssumed, searched("kv")},
	{Etcd, "etcd's keys, whose revision each change raises by one: ranges, transactions and leases, as its robustness " +
		"tests record them.", searchAssumed + " The cluster was new; leases end when they are revoked; reads of an old " +
		"revision tell the revision alone.", searched(Etcd)},
}

const (
	claimsAssumed = plainAssumed + " One pending operation an owner. A renewal or a release that is refused says that " +
		"its owner held nothing; one that failed otherwise says nothing."
	plainAssumed  = "Events in their order; one pending operation a process; none after an unknown outcome; fail is certainly no effect."
	ownersAssumed = plainAssumed + " One pending operation an owner." + passedOver
	leasesAssumed = plainAssumed + " One pending operation an owner."
	passedOver    = " Renewals are passed over: what cannot be lost need not be renewed."
	tokensAssumed = " Every grant has its token."
	searchAssumed = plainAssumed + " Decided by Porcupine alone, within limits, so it may be unknown."
)

// Named returns the model called name.
func Named(name string) (Model, bool) {
	for _, m := range Models {
		if m.Name == name {
			return m, true
		}
	}
	return Model{}, false
}

// Readings says in one sentence what the readings of one history found: as a strict
// mutex, as a lock that may be lost, and as one whose releases and renewals say that it
// was held. The second and the third may be nil.
func Readings(strict Result, lease, claims *Result) string {
	text := "as a strict mutex: " + valid(strict)
	if lease == nil {
		return text
	}
	text += "; as a lease lock (" + lease.Model + "): " + valid(*lease)
	if claims != nil {
		text += "; where an ok release or renewal says that its owner held it (" + claims.Model + "): " + valid(*claims)
	}
	switch {
	case strict.Verdict != Violated || lease.Verdict != Holds:
	case lease.Model == "lease-untimed": // it knows no lease that could allow it
		text += ". A lock that may be lost at any time has any overlap that no token or renewal contradicts: that counts only if this lock has a lease."
	default:
		text += ". A lock was lost while its holder believed in it, as its leases allow."
	}
	return text
}

// RegisterReadings says in one sentence what the two readings of a register found.
func RegisterReadings(strict, lenient Result, initial string) string {
	at := "nothing"
	if initial != "" {
		at = initial
	}
	return fmt.Sprintf("where a failed cas and a read of nothing are observations, as in Porcupine: %s; where they say "+
		"nothing, as Knossos takes it (--lenient): %s; it begins with %s (--init)",
		valid(strict), valid(lenient), at)
}

func valid(r Result) string {
	return map[Verdict]string{Holds: "valid", Violated: "invalid"}[r.Verdict] + map[Verdict]string{Unknown: "unknown"}[r.Verdict]
}
