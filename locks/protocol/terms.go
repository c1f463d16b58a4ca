package protocol

import (
	"crypto/rand"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
)

// terms are what a session's answers must keep to, and how a claim is made of one.
type terms struct {
	cfg    locks.Config
	name   string            // part of each owner, so that no two sessions share one
	offers func(string) bool // what hello named
}

func newTerms(c locks.Config) terms {
	return terms{cfg: c, name: c.Client + "/" + rand.Text()[:10]}
}

// owner is the name of a grant in the history: unique in the run.
func (t terms) owner(grant string) string { return t.name + "/" + grant }

// claim fills in what the library told about how long it holds.
func (t terms) claim(g *locks.Grant, r *Result, sent history.Stamp) (*locks.Grant, *Fault) {
	now := history.Now()
	g.Sent, g.Deadline, g.Lease = sent, r.Deadline, 0
	if t.offers(OfferLease) {
		g.Lease = t.cfg.Lease
	}
	if r.Sent == 0 {
		return g, nil
	}
	if r.Sent > now.Mono+clockNoise {
		return nil, fault(Mistaken, "sent_ns is %v after its answer; it is by CLOCK_MONOTONIC, in ns", time.Duration(r.Sent-now.Mono))
	}
	g.Sent = ago(now, max(0, min(now.Mono-r.Sent, now.Raw-sent.Raw)))
	if g.Deadline == 0 && g.Lease > 0 && t.offers(OfferSent) { // the library does not tell; the service owes it for certain until then
		g.Deadline = g.Sent.Mono + int64(g.Lease)
	}
	return g, nil
}

// clockNoise is how far two processes may be apart that read one clock: each was not
// running for a moment between the two readings that its own is made of.
const clockNoise = int64(10 * time.Millisecond)

// ago is a stamp so much earlier. The adapter's clock is this process's, bent as it is;
// the judge's is not, so what the adapter stamps is counted back from now.
func ago(now history.Stamp, by int64) history.Stamp {
	return history.Stamp{Raw: now.Raw - by, Mono: now.Mono - by, Real: now.Real - by}
}

// checkGrant looks at an answer to acquire or try.
func (t terms) checkGrant(r *Result) *Fault {
	if r.Grant == "" {
		return fault(Mistaken, "acquire was answered with ok and no grant; name it, such as \"g1\"")
	}
	switch {
	case t.offers(OfferToken) && r.Token == 0:
		return fault(Overclaims, "hello offers token, and a grant has none")
	case !t.offers(OfferToken) && r.Token != 0:
		return fault(Overclaims, "a grant has token %d, and hello does not offer token", r.Token)
	}
	return t.checkClaim(DoAcquire, r)
}

// deadlineMax is how far ahead a deadline may lie: farther, it is by another clock.
const deadlineMax = 24 * time.Hour

func (t terms) checkClaim(do Do, r *Result) *Fault {
	switch {
	case t.offers(OfferValidity) && r.Deadline == 0:
		return fault(Overclaims, "hello offers validity, and an %s was answered without deadline_ns", do)
	case !t.offers(OfferValidity) && r.Deadline != 0:
		return fault(Overclaims, "an %s was answered with deadline_ns, and hello does not offer validity", do)
	case (t.offers(OfferSent) || t.offers(OfferAsked)) && r.Sent == 0:
		return fault(Overclaims, "hello offers sent or asked, and an %s was answered without sent_ns", do)
	case !t.offers(OfferSent) && !t.offers(OfferAsked) && r.Sent != 0:
		return fault(Overclaims, "an %s was answered with sent_ns, and hello offers neither sent nor asked", do)
	case r.Deadline != 0 && time.Duration(abs(r.Deadline-history.Mono())) > deadlineMax:
		return fault(Mistaken, "deadline_ns is %v from now; it is by CLOCK_MONOTONIC, in ns", time.Duration(r.Deadline-history.Mono()))
	}
	return nil
}

func abs(n int64) int64 {
	if n < 0 {
		return -n
	}
	return n
}
