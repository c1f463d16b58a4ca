package checker

import "github.com/dlmtest/dlmtest/history"

// ofUses are the properties of what a lock is used for, rows like those of Checkers.
var ofUses = []Checker{
	{
		Name: "never-oversold/unfenced", Owed: Data, use: history.Inventory, lockless: true,
		About: "More is sold than there is, by the copy without fencing.",
		Remedy: "A sale that names the stock, or the version, that it has seen and fails where that has changed; or a " +
			"token that the table of stock compares.",
		check: func(r *run) outcome { return r.neverOversold(unfenced) }, oracle: posed{why: noEffects},
		rests: rests{resource: true}, needs: needs{staleWrite: true},
		tests: []test{
			staleWrites.shows("a sale from a stale count"),
		},
	}, {
		Name: "never-oversold/fenced", Owed: Data, Fenced: true, use: history.Inventory, lockless: true,
		About: "More is sold than there is, by the fenced copy.",
		Remedy: "Registering the token when the stock is read, or a sale that names the stock that it has seen and " +
			"fails where that has changed.",
		promised: tokenedOrLockless, check: func(r *run) outcome { return r.neverOversold(fencedOf) },
		oracle: posed{why: noEffects}, rests: rests{resource: true}, needs: needs{staleWrite: true},
		tests: []test{
			staleWrites.shows("a sale from a stale count"),
		},
	}, {
		Name: "charged-once/unfenced", Owed: Data, use: history.Payment,
		About:  "An order is charged twice where the table of orders has no fence.",
		Remedy: onceKey,
		check:  func(r *run) outcome { return r.onlyOnce(unfenced, charges) }, oracle: posed{why: noEffects},
		rests: rests{resource: true}, needs: needs{staleWrite: true},
		tests: []test{
			staleWrites.shows("a second charge by a stale holder"),
			unanswered.shows("a second charge after a lost answer"),
		},
	}, {
		Name: "charged-once/fenced", Owed: Data, Fenced: true, outside: true, use: history.Payment,
		About:    "An order is charged twice although the table of orders has a fence.",
		Remedy:   onceKey,
		promised: tokened, check: func(r *run) outcome { return r.onlyOnce(fencedOf, charges) },
		oracle: posed{why: noEffects}, rests: rests{resource: true}, needs: needs{staleWrite: true},
		tests: []test{
			staleWrites.shows("a second charge by a stale holder"),
			unanswered.shows("a second charge after a lost answer"),
		},
	}, {
		Name: "one-run-a-slot/unfenced", Owed: Data, use: history.Cron,
		About:  "A slot is run twice where the table of slots has no fence.",
		Remedy: onceSlot,
		check:  func(r *run) outcome { return r.onlyOnce(unfenced, runs) }, oracle: posed{why: noEffects},
		rests: rests{resource: true}, needs: needs{staleWrite: true},
		tests: []test{
			staleWrites.shows("a second run by a stale holder"),
			unanswered.shows("a second run after a lost answer"),
		},
	}, {
		Name: "one-run-a-slot/fenced", Owed: Data, Fenced: true, outside: true, use: history.Cron,
		About:    "A slot is run twice although the table of slots has a fence.",
		Remedy:   onceSlot,
		promised: tokened, check: func(r *run) outcome { return r.onlyOnce(fencedOf, runs) },
		oracle: posed{why: noEffects}, rests: rests{resource: true}, needs: needs{staleWrite: true},
		tests: []test{
			staleWrites.shows("a second run by a stale holder"),
			unanswered.shows("a second run after a lost answer"),
		},
	}, {
		Name: "no-interleaving/unfenced", Owed: Data, use: history.File,
		About:  "Blocks of two writers stand mixed in the file without a fence.",
		Remedy: "Writing to a file of one's own and renaming it, or a storage that compares tokens with every block.",
		check:  func(r *run) outcome { return r.noInterleaving(unfenced) }, oracle: posed{why: noEffects},
		rests: rests{resource: true}, needs: needs{staleWrite: true},
		tests: []test{
			staleWrites.shows("a block of a stale writer"),
		},
	}, {
		Name: "no-interleaving/fenced", Owed: Data, Fenced: true, use: history.File,
		About:    "Blocks of two writers stand mixed in the file whose storage checks tokens.",
		Remedy:   "Writing to a file of one's own and renaming it, so that no reader meets two writers' blocks.",
		promised: tokened, check: func(r *run) outcome { return r.noInterleaving(fencedOf) },
		oracle: posed{why: noEffects}, rests: rests{resource: true}, needs: needs{staleWrite: true},
		tests: []test{
			staleWrites.shows("a block of a stale writer"),
		},
	}, {
		Name: "one-rebuilder", Owed: Data, use: history.Cache,
		About: "Two clients rebuild the same entry at once.",
		Remedy: "Several rebuild at once where a lease is shorter than a rebuild: renew it, or make a second rebuild " +
			"harmless.",
		check: oneRebuilder, oracle: posed{why: noEffects}, rests: rests{resource: true, absent: true},
		needs: needs{staleWrite: true},
		tests: []test{
			contended.shows("two that rebuild at once"),
			superseded.shows("a rebuild that goes on after its lease"),
		},
	}, {
		Name: "no-deadlock", Owed: Nobody, work: healed, use: history.TwoKeys,
		About:  "Clients wait for each other's keys for longer than a lease and the bound that the lock states.",
		Remedy: "Taking keys in one order everywhere, or a lease that nobody renews while it waits for another key.",
		check:  noDeadlock, oracle: posed{why: noTime}, rests: rests{others: true},
		tests: []test{
			contended.shows("clients that wait for each other"),
		},
	},
}

// What several rows say.
const (
	noEffects = "it has no model of what a use does in the world"

	onceKey = "An idempotency key at the payment service: the second charge of an order is the first one's answer. No " +
		"lock can make an effect outside of its resource happen once."
	onceSlot = "A row for each slot with a unique key, written by the job in the transaction of its effect, so that the " +
		"second run of a slot fails."
)
