package remedies

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/reports/say"
)

// remedy is what would have prevented a violation, by its cause. A property's own row says what is
// right whatever the cause was (checker.Checker.Remedy).
type remedy struct {
	of   string // the property that is violated
	when cause  // what the evidence must show; nil: nothing beside the violation
	says string // "": what the property's own row says; %s is whom the cause struck
}

// cause looks in the evidence for why a property was violated, and for whom that struck.
type cause func(*clues, checker.Violation) (who []string, shown bool)

// defects are what a lock does wrong whoever uses it, the plainest first: what a release frees and what
// a second hold means explain two leases at once, and not the other way round.
var defects = []remedy{
	{of: "release-by-owner"},
	{of: "reentrancy"},
	{"fencing-monotonic", retaken, "%s asked for the lock again before it knew what had become of its release, and was given its old hold, with the " +
		"old token: this lock knows its holder by client or session, and not by grant. The release that is still under way may " +
		"end the new hold. A grant needs a name of its own, which its release compares in the same step; where it has none, end " +
		"the session whose release was not answered, and ask by a new one."},
	{"fencing-monotonic", overOnArrival, tokenApart},
	{"fenced-writes", overOnArrival, tokenApart},
	{"lease-exclusion", clockOfServer, "The clock of %s was moved while the lease ran, and the service ends leases " +
		"by it. A service that counts leases by a clock that nobody can set (MONOTONIC) prevents it; a clock that " +
		"is slewed and never stepped makes it rare."},
	{"lease-exclusion", all(cameBack, onRenewal), "While the lease ran that a renewal had been answered for, %s " +
		"died and came back. Either that renewal was not on disk when it was answered, or who granted next did not " +
		"ask for it: a majority that has it on disk before the answer prevents both."},
	{"lease-exclusion", cameBack, "While the lease ran, %s died and came back, and the grant was forgotten. A " +
		"grant that is on disk before it is answered (an fsync for each) survives that; so does a server that " +
		"stays away for a lease after its restart."},
	{"lease-exclusion", all(struckServer, onRenewal), "The lease that still ran had been renewed by an ok answer, " +
		"and %s {was} away. Which of the two let a second client in is not known from here: a renewal must reach a " +
		"majority before it is answered, and one that cannot must leave the lease as it is."},
	{"lease-exclusion", struckServer, "While the lease ran, %s {was} away. Whether those that granted next could " +
		"know of it is not known from here: a grant must be with a majority of the servers before it is answered, " +
		"and a copy that may lag behind must not grant."},
	{"lease-exclusion", afterFirstLease, renewedInVain},
	{"lease-exclusion", someHistory, letsTwoIn},
	{of: "lease-exclusion"},
	{"rw-exclusion", neverGranted, ungranted},
	{"rw-exclusion", all(unstruck, overlapped), letsTwoIn},
	{"rw-exclusion", toldBefore, workedOn},
	{"permits", neverGranted, ungranted},
	{"permits", all(unstruck, overlapped), letsTwoIn},
	{"permits", toldBefore, workedOn},
	{"mutual-exclusion", neverGranted, ungranted},
	{"mutual-exclusion", givenBack, "%s had given the lock back, and acted on it all the same. Neither the lock nor its lease can help: " +
		"release only when the last piece of the guarded work has been answered. A token that the resource compares contains it once " +
		"the next holder has written."},
	{"mutual-exclusion", all(unstruck, renewedPast), renewedInVain},
	{"mutual-exclusion", all(unstruck, endedEarly), "The service said that the lock of %s was lost, and gave it to another, both before the " +
		"deadline that it had answered, and nobody was struck. A longer lease does not help where the service does not keep it: find out " +
		"what ended it. Who is told of a loss must stop; a token that the resource compares stops who comes late all the same."},
	{"mutual-exclusion", grantedAfterAStop, "%s stood still while it waited for the lock, and was granted it all " +
		"the same. A wait that is over must look once more, at the server, whether its own lease or session still " +
		"stands, before it says that the lock is held."},
	{"mutual-exclusion", all(unstruck, overlapped), letsTwoIn},
	{"mutual-exclusion", serverAlone, "No holder was struck, and %s {was}: the service ended or forgot a hold whose " +
		"holder lived. How is not known from here; a service may end a lease only where a majority of its servers " +
		"agrees. A token that the resource compares contains it."},
	{"fencing-monotonic", clockOfClient, "The clock of %s was moved, and tokens fell or came again: those of a " +
		"client's clock do, when it is set back or differs from another's. Let the service count, in the same step " +
		"in which it grants."},
	{"fencing-monotonic", struckServer, "%s {was} struck, and tokens fell or came again. The counter must be on " +
		"disk, or with a majority, before a grant is answered."},
	{of: "fencing-monotonic"},
	{of: "loss-noticed"},
	{"deadlock-freedom", all(unstruck, ofPermits), "A release must give back every permit that its grant took, in one step, and each permit " +
		"needs a lease, so that one that was not given back comes again by itself."},
	{"deadlock-freedom", killedClient, "%s died, and what it had left at the service stayed. Take the key and give " +
		"it its lease in one request, and give each place in a queue a lease, so that what the dead leave ends by " +
		"itself."},
	{"deadlock-freedom", all(allAnswered, releaseAnswered), "%s gave the key back and was told ok, and no answer was lost: the service kept the " +
		"key all the same, or woke nobody who waited. A release must free the key, and wake who waits next, before it is answered; " +
		"who waits should ask again now and then, and so outlive a wake-up that is lost."},
	{"deadlock-freedom", allAnswered, "Nobody held the key, and no answer was lost: the service kept it all the same, or woke nobody who " +
		"waited. What ends a hold must free the key and wake who waits next, also where that is the end of a lease; who waits should ask " +
		"again now and then, and so outlive a wake-up that is lost."},
}

// ofUse are what saves a well-known use of a lock, however sound the lock is.
var ofUse = []remedy{
	{of: "charged-once/fenced"},
	{of: "charged-once/unfenced"},
	{of: "one-run-a-slot/fenced"},
	{of: "one-run-a-slot/unfenced"},
	{of: "never-oversold/fenced"},
	{"never-oversold/unfenced", tokenless, "A sale that names the stock, or the version, that it has seen and " +
		"fails where that has changed; this lock gives no token that the table of stock could compare."},
	{of: "never-oversold/unfenced"},
	{of: "no-interleaving/fenced"},
	{"no-interleaving/unfenced", tokenless, "Writing to a file of one's own and renaming it; this lock gives no " +
		"token that the storage could compare."},
	{of: "no-interleaving/unfenced"},
	{"one-rebuilder", stoppedHolder, "%s stood still while it rebuilt, and its lease ended: no renewal helps who " +
		"does not run. Make a second rebuild harmless, so that an older one never replaces a newer."},
	{of: "one-rebuilder"},
	{"no-deadlock", leaseless, "Taking keys in one order everywhere. This lock has no lease that could end a wait: " +
		"a limit on each wait, after which all keys are given back, bounds what is left (lock_timeout in " +
		"PostgreSQL)."},
	{of: "no-deadlock"},
}

// ofClients are what the user of a sound lock can do, and what bounds a fault.
var ofClients = []remedy{
	{"no-lost-update/unfenced", forgotten, resourceForgot},
	{"no-lost-update/fenced", forgotten, resourceForgot},
	{"mutual-exclusion", toldBefore, workedOn},
	{"mutual-exclusion", leaseless, inSession},
	{"no-lost-update/unfenced", leaseless, inSession},
	{"mutual-exclusion", all(unstruck, leasesApart), endedAtWork},
	{"no-lost-update/fenced", tokenless, risingToken},
	{"mutual-exclusion", tokenless, risingToken},
	{"no-lost-update/unfenced", tokenless, risingToken},
	{"no-lost-update/fenced", fencedAtWrite, ""},
	{"no-lost-update/fenced", nil, "A read registers its token here, and the fenced copy lost an update all the " +
		"same. Why is not known from here: see whether tokens rise and whether the copy compares each write in one " +
		"step."},
	{"mutual-exclusion", promiseKept, "Nothing in the service, which kept its promise: a lease ends also while its " +
		"holder has stopped or its write is under way. The remedy is at the resource, which must check tokens as " +
		"the fenced copy does."},
	{of: "mutual-exclusion"},
	{of: "no-lost-update/unfenced"},
	{"availability", all(leaseless, stoppedHolder), "%s stood still with the lock, and this lock has no lease to " +
		"shorten: it lasts as long as its holder's session. Let the server end sessions that idle with it " +
		"(PostgreSQL: idle_in_transaction_session_timeout for a row lock, idle_session_timeout for an advisory " +
		"one; here --idle-timeout). That is a lease in all but name: who wakes up late must be refused by its " +
		"token at the resource."},
	{"availability", mostServers, "Nothing in the lock: %s did not run or could not be reached, and fewer than a majority of the servers " +
		"must not grant. More servers, in places that fail apart, make that rare."},
	{"availability", struckServer, "A limit on each request, after which the client asks another server: %s {was} " +
		"away, and the others could have granted."},
	{"availability", stoppedHolder, "A lease shorter than the pause that your users can bear: %s stood still with " +
		"the lock, and the others waited for its end."},
}

// What several rows say.
const (
	letsTwoIn = "No server was struck, so the lock let a second client in by itself; by what mistake cannot be " +
		"seen from outside. The usual ones: it looks in one request and takes in the next; it counts those that " +
		"answered and not more than half of all servers; it takes a lock for stale before its lease is over; it " +
		"compares with some kinds of holders and not with all; it grants to a waiter whose own lease has ended meanwhile."
	tokenApart = "A grant's own lease was over when its holder was told of it, and its token was the greater all " +
		"the same, as where the token is taken by a request after the lock. Take it in the same step as the lock."
	risingToken = "A lock that gives a rising token with each grant, and a resource that refuses a lower token " +
		"than it has seen. Checking the deadline before a write makes the window smaller; it does not close it."
	inSession = "This lock has no lease: the hold ended with its holder's session, and the holder worked on. Do " +
		"the guarded work in that very session or transaction, so that it fails with it, or compare its token at " +
		"the resource."
	endedAtWork = "Nobody was struck and no two leases overlapped: the lease of the older holder ended while it worked or waited, " +
		"for another key say, and it went on. Leases longer than the work with its waits, or renewed meanwhile, make that rare; " +
		"a token that the resource compares, with reads too (--fence-on read), stops who comes late all the same."
	renewedInVain = "The first lease was over, and what still ran had been promised by an ok to a renewal. Either " +
		"that renewal changed nothing at the server, or the service took the lock from a holder that it had renewed. A renewal must " +
		"ask the server each time, compare the owner there in the same step, and say no where the lock is another's or gone."
	ungranted = "%s acted on the lock by a name that was never granted it there, or not yet. The lock let nobody in by that: see what the " +
		"program, or its adapter, takes for a grant. Only an ok to its own acquire is one."
	workedOn = "%s had been told that the lock was lost, and acted on it all the same. Longer leases do not help who does not listen: the " +
		"guarded work must stop when its client is told. What is under way by then only a token can stop, which the resource compares."
	resourceForgot = "Nothing in the lock: no late writer replaced what is missing; the resource lost an update that it had acknowledged. " +
		"It must keep a write, on disk where it may die, before it answers, and must not answer reads from an older copy."
	savedTheTable = "The fence saved the table, as the fenced copy shows; what was done outside it stays done."
)

// prevented names the remedies for what broke: what the lock can do, then what the use can do; else what
// the user of a sound lock can do.
func prevented(e *clues) string {
	switch {
	case e.result.Verdict == checker.Holds:
		return "One green run shows that this did not happen this time. Repeat it with other seeds before relying " +
			"on it."
	case e.result.Verdict != checker.Violated:
		return "Run it longer or with more clients; the doubts and the reasons beside the unknown properties say " +
			"what was missing."
	}
	defect, use := e.remedyIn(defects), e.remedyIn(ofUse)
	c, _ := checker.Find(e.answered)
	fenced := e.violated("no-lost-update/unfenced") && e.verdicts["no-lost-update/fenced"] == checker.Holds
	if use != "" && fenced && c.Fenced {
		use += " " + savedTheTable
	}
	if defect == "" {
		defect, use = e.ofService(use)
	}
	if text := strings.TrimSpace(defect + " " + use); text != "" {
		return text
	}
	if text := e.remedyIn(ofClients); text != "" {
		if e.violated("fenced-writes") && e.answered != "fenced-writes" { // the fence that is advised has failed
			text += " And for fenced-writes: " + remedyOf("fenced-writes")
		}
		return text
	}
	return remedyOf(gravest(e.verdicts, func(checker.Checker) bool { return true }))
}

// ofService is the remedy for a broken promise of which no row tells a cause, and what is said beside it. Such a
// promise, as a wrong ok to a late release, lets no second client in: where leases did not overlap, what a late holder
// did has its own remedy, which comes first.
func (e *clues) ofService(use string) (first, then string) {
	broken := gravest(e.verdicts, func(c checker.Checker) bool { return c.Owed == checker.Service })
	if _, apart := leasesApart(e, checker.Violation{}); broken == "" || !apart || !e.violated("mutual-exclusion") {
		return remedyOf(broken), use
	}
	return cmp.Or(use, e.remedyIn(ofClients)), fmt.Sprintf("And for %s: %s", broken, remedyOf(broken))
}

// remedyIn is what the first row says that the evidence bears out; "": none does.
func (e *clues) remedyIn(table []remedy) string {
	for _, m := range table {
		if !e.violated(m.of) {
			continue
		}
		var who []string
		if m.when != nil {
			var shown bool
			if who, shown = m.when(e, e.firmest(m.of)); !shown {
				continue
			}
		}
		e.answered = m.of
		text := m.says
		if text == "" {
			text = remedyOf(m.of)
		}
		return strings.NewReplacer("%s", say.Names(who), "{was}", say.Verb(len(who), "was", "were")).Replace(text)
	}
	return ""
}

func tokenless(e *clues, _ checker.Violation) ([]string, bool) {
	return nil, !e.Setup.Promise.Token
}

func leaseless(e *clues, _ checker.Violation) ([]string, bool) {
	return nil, !e.Setup.Promise.Leased && e.Setup.Promise.Backend != ""
}

func fencedAtWrite(e *clues, _ checker.Violation) ([]string, bool) {
	return nil, e.Setup.FenceOn == "write"
}

func promiseKept(e *clues, _ checker.Violation) ([]string, bool) {
	return nil, e.verdicts["lease-exclusion"] == checker.Holds && gravest(e.verdicts, func(c checker.Checker) bool { return c.Owed == checker.Service }) == ""
}

// leasesApart: no two leases overlapped, so whoever acted beside another holder acted after its lease.
func leasesApart(e *clues, _ checker.Violation) ([]string, bool) {
	return nil, e.verdicts["lease-exclusion"] == checker.Holds
}

func overlapped(e *clues, v checker.Violation) ([]string, bool) {
	_, apart := leasesApart(e, v)
	return nil, !apart
}

// someHistory: without operations nothing is known of causes.
func someHistory(e *clues, _ checker.Violation) ([]string, bool) { return nil, len(e.Ops) > 0 }

// all wants every cause; whom the first struck is named.
func all(causes ...cause) cause {
	return func(e *clues, v checker.Violation) (who []string, _ bool) {
		for _, c := range causes {
			struck, shown := c(e, v)
			if !shown {
				return nil, false
			}
			who = append(who, struck...)
		}
		return who, true
	}
}
