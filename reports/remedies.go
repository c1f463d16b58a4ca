package reports

import "github.com/dlmtest/dlmtest/checker"

// remedies say what would have prevented a violation, the gravest first. What two
// clients did to the data at once stands in prevented.
var remedies = []struct{ property, words string }{
	{"rw-exclusion", fenceBoth},
	{"same-reads", fenceBoth},
	{"permits", "A semaphore bounds how many work at once only while each of them keeps its lease. Where the bound guards something that breaks, let that thing count its own users, or let it refuse who comes with an older permit."},
	{"one-leader", "A term number with each act, which the resource compares: an act of an older term is refused. A leader that looks at its own clock before it acts makes the window smaller; it does not close it."},
	{"never-oversold/fenced", "Registering the token when the stock is read, or a sale that names the stock that it has seen and fails where that has changed."},
	{"never-oversold/unfenced", "A sale that names the stock, or the version, that it has seen and fails where that has changed; or a token that the table of stock compares."},
	{"charged-once/fenced", onceKey},
	{"charged-once/unfenced", onceKey},
	{"one-run-a-slot/fenced", onceSlot},
	{"one-run-a-slot/unfenced", onceSlot},
	{"no-interleaving/fenced", "Writing to a file of one's own and renaming it, so that no reader meets two writers' blocks."},
	{"no-interleaving/unfenced", "Writing to a file of one's own and renaming it, or a storage that compares tokens with every block."},
	{"reentrancy", "A count that is kept with the holder's name in one step at the server, and a lock that is freed by the last release alone."},
	{"fenced-writes", "A resource that keeps the highest token that it has seen, compares each write with it in the same step, and refuses lower ones only."},
	{"honest-claims", "Compare the owner at the server in the same step as the renewal or the release, and say no where it is another's or gone."},
	{"validity-bound", "Count the lease from before the request was sent, by a monotonic clock, and take off what two clocks may drift apart."},
	{"loss-noticed", "A watchdog that tells its holder when the last answered renewal runs out, not when the next one fails."},
	{"false-loss", "Tell of a loss only when the deadline has passed or the service has said that the lock is gone; an attempt that failed is no loss yet."},
	{"recovery", "A lease that ends by itself soon after its holder died, and not before; and a service that tells its waiters then."},
	{"deadlock-freedom", "An attempt that fails must take back what it has left at the service: a key, a place in the queue. A wait that its user can bound, and a lease on every place, keep one lost answer from stopping all."},
	{"no-deadlock", "Taking keys in one order everywhere, or a lease that nobody renews while it waits for another key."},
	{"free-lock", "A release that is sent until it is answered, also while a renewal is under way."},
	{"availability", "A lease shorter than the pause that your users can bear, and a limit on each request, after which the client asks another server."},
	{"wait-limit", "A limit of its own on each request, shorter than what is left of the wait."},
	{"honest-refusal", "Say that another holds the lock only where the server has said so, and not where an answer is missing."},
	{"lock-info", "Read who holds the lock where it is granted, not from a copy that lags behind."},
	{"starvation", "A queue in which readers that come after a waiting writer wait behind it."},
	{"fairness", "A place in the queue that the server gives when it is asked for, and that is kept until it is given back."},
	{"herd", "Waiters that watch the one before them alone, so that a release wakes one."},
	{"one-rebuilder", "Several rebuild at once where a lease is shorter than a rebuild: renew it, or make a second rebuild harmless."},
}

const (
	fenceBoth = "Nothing in the lock alone: a holder that stopped acts after its lease has ended. The resource must check the token of every write, and a reader must check its own before it uses what it has read."
	onceKey   = "An idempotency key at the payment service: the second charge of an order is the first one's answer. No lock can make an effect outside of its resource happen once."
	onceSlot  = "A row for each slot with a unique key, written by the job in the transaction of its effect, so that the second run of a slot fails."
)

// remedyOf is what would have prevented the gravest of the violated properties; "":
// none is violated.
func remedyOf(verdicts map[string]checker.Verdict) string {
	for _, r := range remedies {
		if verdicts[r.property] == checker.Violated {
			return r.words
		}
	}
	return ""
}
