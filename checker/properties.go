package checker

import "github.com/dlmtest/dlmtest/history"

// Checkers is the table of all properties, in the order of a report. What else names properties
// (lists, the scenarios' validation, remedies, docs/properties.md) is made from it.
var Checkers = append([]Checker{
	{
		Name: "mutual-exclusion", Owed: Unleased,
		About:    "Two clients believe to hold a key, and the one whose grant is older acts on it after the newer grant; or nothing had ended that grant.",
		Remedy:   atTheResource,
		promised: alone, check: mutualExclusion, oracle: posed{of: (*run).askBelief, whole: true, holds: true},
		needs: needs{staleWrite: true, grantInFault: true},
		tests: []test{
			contended.shows("two holders at once"),
			superseded.shows("a holder that acts after another was granted the key"),
			faultGrants.shows("a second grant that a fault leads to"),
		},
		passed: (*run).passedOver,
	}, {
		Name: "rw-exclusion", Owed: Unleased, kinds: only(history.ReadWrite),
		About:  "A writer and another client believe to hold a key, and both act on it after both were granted it; or nothing had ended the older grant.",
		Remedy: fenceBoth,
		check:  rwExclusion, oracle: posed{of: (*run).askActing, whole: true, holds: true}, needs: needs{grantInFault: true},
		tests: []test{
			contended.shows("a writer beside another client"),
			faultGrants.shows("a second grant that a fault leads to"),
		},
	}, {
		Name: "permits", Owed: Unleased, kinds: only(history.Semaphore),
		About: "More permits of a key are believed to be held than it has, and each of their holders acts after all were granted; " +
			"or nothing had ended their grants.",
		Remedy: "A semaphore bounds how many work at once only while each of them keeps its lease. Where the bound " +
			"guards something that breaks, let that thing count its own users, or let it refuse who comes with an " +
			"older permit.",
		check: permits, oracle: posed{of: (*run).askActing, whole: true, holds: true}, rests: rests{others: true},
		needs: needs{grantInFault: true},
		tests: []test{
			contended.shows("a permit too many"),
			faultGrants.shows("a permit too many that a fault leads to"),
		},
	}, {
		Name: "lease-exclusion", Owed: Service,
		About: "Clients hold valid leases on a key at once that the lock must not give together: the service broke its own promise.",
		Remedy: "Two grants were valid at once, so no care of the clients would have helped. What let the second in is " +
			"not known from the judgement alone: see what happened to servers, clocks and renewals meanwhile.",
		promised: leased, check: leaseExclusion, oracle: posed{of: (*run).askValidity, whole: true}, rests: rests{steady: true},
		needs: needs{grantInFault: true},
		tests: []test{
			contended.shows("two leases at once"),
			faultGrants.shows("a second grant that a fault leads to"),
			serversHit.shows("a lease that a server forgets"),
		},
		passed: (*run).slightly,
	}, {
		Name: "reentrancy", Owed: Service, kinds: only(history.Reentrant),
		About: "A holder that takes its lock again is refused, kept waiting, told the wrong count or token, or loses the lock before its last release.",
		Remedy: "A count that is kept with the holder's name in one step at the server, and a lock that is freed by " +
			"the last release alone.",
		check: reentrancy, oracle: posed{why: "it has no model of what a holder is told of its own holds"}, rests: rests{steady: true},
		tests: []test{
			takenAgain.shows("a hold within a hold that is refused or ends too early"),
			unanswered.shows("a count that is wrong after a lost answer"),
		},
	}, {
		Name: "fencing-monotonic", Owed: Service,
		About: "A later grant carries a token that is not greater, reused or missing. A renewal that tells another token " +
			"counts as a grant. Of a read-write lock: a writer's is not greater than those of all before it, " +
			"or a reader's is below that of a writer before it; also where their order is open and no order avoids that.",
		Remedy: "A token must never repeat or fall: make it where the lock is granted, and make it durable before the " +
			"grant is answered.",
		promised: both(tokened, fences), check: fencingMonotonic,
		oracle: posed{of: (*run).askTokens, whole: true, shares: "it has no model of the tokens of readers"}, rests: rests{steady: true},
		needs: needs{grantInFault: true},
		tests: []test{
			tokenPairs.shows("a token that goes back or repeats"),
			serversHit.shows("a counter that a server forgets"),
		},
	}, {
		Name: "fenced-writes", Owed: Fence,
		About: "The fenced copy accepts a write of a superseded grant after one of a later grant or with a token below what it has registered " +
			"or, where fencing is strict, a second one with a token, holds one that it has refused, or refuses the valid holder.",
		Remedy: "A resource that keeps the highest token that it has seen, compares each write with it in the same " +
			"step, and refuses lower ones only.",
		promised: both(tokened, oneWriter), check: fencedWrites, oracle: posed{of: (*run).askFenced, shares: "it has no model of readers beside writers"},
		rests: rests{resource: true, others: true, steady: true}, // it refuses whom a grant that is missing superseded
		needs: needs{staleWrite: true},
		tests: []test{
			staleWrites.shows("a stale write that the fence accepts"),
		},
	}, {
		Name: "no-lost-update/unfenced", Owed: Data, lockless: true,
		About:    "An acknowledged update of the copy without fencing is lost or overwritten unseen.",
		Remedy:   atTheResource,
		promised: written, check: noLostUpdateUnfenced,
		oracle: posed{of: func(r *run, k *keyLog) []question { return r.askUpdates(k, unfenced) }, entry: true},
		rests:  rests{resource: true}, needs: needs{staleWrite: true},
		tests: []test{
			contended.shows("an update that another holder overwrites"),
			staleWrites.shows("an update that a stale holder overwrites"),
			unanswered.shows("an update that is lost with its answer"),
		},
	}, {
		Name: "no-lost-update/fenced", Owed: Data, Fenced: true,
		About: "An acknowledged update of the fenced copy is lost or overwritten unseen.",
		Remedy: "Registering the token when the resource is read (--fence-on read), so that a late write is refused " +
			"even if the new holder has only read so far.",
		promised: both(tokened, written), check: noLostUpdateFenced,
		oracle: posed{of: func(r *run, k *keyLog) []question { return r.askUpdates(k, fencedOf) }, entry: true},
		rests:  rests{resource: true}, needs: needs{staleWrite: true},
		tests: []test{
			contended.shows("an update that another holder overwrites"),
			staleWrites.shows("an update that a stale holder overwrites"),
			unanswered.shows("an update that is lost with its answer"),
		},
	}, {
		Name: "same-reads", Owed: Data, kinds: only(history.ReadWrite),
		About:  "A reader looks twice while it believes to hold a key, and sees what another has written between.",
		Remedy: fenceBoth,
		check:  sameReads, oracle: posed{why: "it has no model of a reader that looks twice"},
		rests: rests{resource: true},
		tests: []test{
			contended.shows("a writer that is let in beside a reader"),
			faultGrants.shows("a writer that a fault lets in"),
		},
	}, {
		Name: "one-leader", Owed: Data, kinds: only(history.Leader),
		About: "A leader's write is accepted after one of the next leader: two act at once.",
		Remedy: "A term number with each act, which the resource compares: an act of an older term is refused. A " +
			"leader that looks at its own clock before it acts makes the window smaller; it does not close it.",
		check: oneLeader, oracle: posed{why: "it has no model of terms"}, rests: rests{resource: true},
		needs: needs{staleWrite: true, grantInFault: true},
		tests: []test{
			contended.shows("two leaders at once"),
			superseded.shows("a leader that acts after the next one"),
			staleWrites.shows("an act of an older term that is accepted"),
		},
	}, {
		Name: "release-by-owner", Owed: Service,
		About:    "A release frees the grant of somebody else.",
		Remedy:   "Compare the owner and delete in one step at the server; never delete by key alone.",
		promised: alone, check: releaseByOwner, oracle: posed{why: "it has no model of whose grant a release frees"},
		rests: rests{others: true, steady: true, servers: true},
		tests: []test{
			lateReleases.shows("a release that frees another's grant"),
		},
	}, {
		Name: "honest-claims", Owed: Service,
		About: "An extend, change or release reports success although the client held the lock at no instant of it, or a grant " +
			"is of another mode or number of permits than was asked for, or a renewal than was held, or a holder is told that its lock " +
			"is safe again though another was granted it, or, by a lock that tells of losses, never that it is lost, or an ok came " +
			"while no server could be reached.",
		Remedy: "Compare the owner at the server in the same step as the renewal or the release, and say no where it is another's or " +
			"gone. Grant what was asked for, or refuse it. Tell a holder when its session is over, also where the library makes a new one.",
		promised: replies, check: honestClaims, oracle: posed{of: (*run).askClaims}, rests: rests{steady: true},
		tests: []test{
			lateAsks.shows("an ok for what is not held"),
			lossesTold.shows("silence about a loss").of((*run).tellsLosses),
		},
	}, {
		Name: "false-loss", Owed: Service,
		About: "A client is told of a loss before its deadline, although its links are up and its renewals are answered.",
		Remedy: "Tell of a loss only when the deadline has passed or the service has said that the lock is gone; an " +
			"attempt that failed is no loss yet.",
		check:  falseLoss,
		oracle: posed{why: "it has no model of what a client is told"}, rests: rests{others: true},
		tests: []test{
			lossesSaid.shows("a loss that is told too early"),
			renewed.shows("a renewal of what is held that is refused"),
		},
	}, {
		Name: "loss-noticed", Owed: Service, kinds: only(history.Watchdog),
		About: "A holder whose renewals fail is not told before the deadline of the last one that was answered, or can have been.",
		Remedy: "A watchdog that tells its holder when the last answered renewal runs out, not when the next one " +
			"fails.",
		promised: dated, check: lossNoticed, oracle: posed{why: noTime},
		tests: []test{
			lossesTold.shows("a loss that is told too late"),
		},
	}, {
		Name: "validity-bound", Owed: Service,
		About: "A client claims its grant for longer than lease, less elapsed time, less drift, or than a look at the server finds left of its lease.",
		Remedy: "Count the lease from before the request was sent, by a monotonic clock, and take off what two clocks " +
			"may drift apart.",
		promised: told, check: validityBound, oracle: posed{why: noTime}, rests: rests{steady: true},
		tests: []test{
			granted.shows("a grant that is claimed for too long"),
			renewed.shows("a renewal that is counted for too long"),
			clientClocks.shows("a claim that goes by a wrong clock"),
		},
	}, {
		Name: "deadlock-freedom", Owed: Service, work: healed, last: true,
		About: "A free key is not granted within two leases and 3 s although all is healed.",
		Remedy: "An attempt that fails must take back what it has left at the service: a key, a place in the queue. A " +
			"wait that its user can bound, and a lease on every place, keep one lost answer from stopping all.",
		check: deadlockFreedom, oracle: posed{why: noTime}, rests: rests{others: true}, passed: (*run).waitedLong,
		tests: []test{
			contended.shows("a waiter that is never woken"),
			unanswered.shows("a key that a lost answer keeps"),
			holdersDead.shows("a key that a dead holder keeps"),
			faultsSeen.shows("a key that is never granted again after a fault"),
		},
	}, {
		Name: "availability", Owed: Nobody, work: inFault,
		About: "A fault stops all grants of a key for longer than a lease and the bound that the lock states.",
		Remedy: "A lease shorter than the pause that your users can bear, and a limit on each request, after which " +
			"the client asks another server.",
		check: availability, oracle: posed{why: noTime}, rests: rests{others: true},
		needs: needs{grantInFault: true},
		tests: []test{
			faultsSeen.shows("a fault that stops all grants"),
		},
	}, {
		Name: "recovery", Owed: Service,
		About: "After the death of a holder the next grant comes before its lease ends, or later than a lease and the bound that the lock states.",
		Remedy: "A lease that ends by itself soon after its holder died, and not before; and a service that tells its " +
			"waiters then.",
		check: recovery, oracle: posed{why: noTime}, rests: rests{others: true},
		tests: []test{
			holdersDead.shows("a key that a dead holder keeps, or loses too early"),
		},
	}, {
		Name: "honest-refusal", Owed: Service, kinds: only(history.Tried),
		About: "A client is told that another holds a key although nobody can have held it.",
		Remedy: "Say that another holds the lock only where the server has said so, and not where an answer is " +
			"missing.",
		check: honestRefusal, oracle: posed{why: "its model of a refusal knows no lock that may be lost"},
		rests: rests{others: true, steady: true},
		tests: []test{
			refused.shows("a refusal although nobody holds the key"),
			unanswered.shows("a refusal after a lost answer"),
		},
	}, {
		Name: "wait-limit", Owed: Service, kinds: only(history.Tried),
		About:  "An acquire comes back later than its wait limit and the bound that the lock states.",
		Remedy: "A limit of its own on each request, shorter than what is left of the wait.",
		check:  waitLimit, oracle: posed{why: noTime},
		tests: []test{
			contended.shows("a wait that goes on after its limit"),
			faultsSeen.shows("a wait that a fault makes too long"),
		},
	}, {
		Name: "lock-info", Owed: Service,
		kinds: []history.Kind{history.Mutex, history.Tried, history.Reentrant, history.Leader, history.Watchdog, history.Herd},
		About: "A look at the server names somebody who had given the key back, was superseded, was gone before, was never " +
			"granted it or whose lease or session was over, or nobody or another while somebody held it.",
		Remedy: "Read who holds the lock where it is granted, not from a copy that lags behind.",
		check:  lockInfo, oracle: posed{why: "it has no model of what the servers say"}, rests: rests{others: true, steady: true, servers: true},
		tests: []test{
			looksSeen.shows("a look that names another holder"),
			superseded.shows("a look that still names who was superseded"),
		},
	}, {
		Name: "fairness", Owed: Service,
		About: "A client that waits is overtaken by one that came after it.",
		Remedy: "A place in the queue that the server gives when it is asked for, and that is kept until it is given " +
			"back.",
		promised: both(ordered, alone), check: fairness, oracle: posed{why: "it has no model of a queue"},
		rests: rests{others: true}, passed: (*run).orderKnown,
		tests: []test{
			inQueue.shows("a waiter that is overtaken"),
			gaveUp.shows("a place that is lost when another gives up"),
		},
	}, {
		Name: "starvation", Owed: Service, kinds: only(history.ReadWrite),
		About:    "A writer waits while clients that asked after it are let in, or a reader while writers that asked after it are.",
		Remedy:   "One queue for readers and writers: a writer waits for all before it, a reader for the writers before it.",
		promised: ordered, check: starvation, oracle: posed{why: "it has no model of a queue"},
		rests: rests{others: true},
		tests: []test{
			inQueue.shows("a writer that others overtake, or a reader that writers do"),
		},
	}, {
		Name: "free-lock", Owed: Service, kinds: only(history.Alone), also: setsFree,
		About:    "A free key that nobody else asks for is not granted within three quarters of a lease, or one that has a waiter within the limit of the run.",
		Remedy:   "A release that is sent until it is answered, also during a renewal; waiters that are told of each release, and look again once they listen.",
		promised: tellsFree, check: freeLock, oracle: posed{why: noTime}, rests: rests{others: true},
		tests: []test{
			granted.shows("a free key that is granted late"),
			renewed.shows("a key that a renewal under way keeps"),
			unanswered.shows("a key that a lost answer keeps"),
		},
	}, {
		Name: "herd", Owed: Service, kinds: only(history.Herd),
		About:  "A release wakes more than one waiter.",
		Remedy: "Waiters that watch the one before them alone, so that a release wakes one.",
		check:  herd, oracle: posed{why: "it has no model of what a release wakes"}, rests: rests{others: true},
		tests: []test{inQueue.shows("a release that wakes several")},
	},
}, ofUses...)

// What several rows say.
const (
	noTime = "it has no model of how long something may take"

	atTheResource = "Checking the token of every write at the resource, as the fenced copy does."
	fenceBoth     = "Nothing in the lock alone: a holder that stopped acts after its lease has ended. The resource must " +
		"check the token of every write, and a reader must check its own before it uses what it has read."
)
