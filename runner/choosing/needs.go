package choosing

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/reports/text"
)

// need is a row of the advice.
type need struct {
	What, Take, Fencing string
}

// inside are the scenarios whose data a fence can protect: all but those of effects outside.
var inside = []string{quiet, stopped, between, clocks, amnesia, parted}

// always says that an answer is yes in every scenario in which it was asked, and at least in one.
// A scenario that was run with both fences is asked with the one that counts reads.
func (l Lock) always(scenarios []string, of func(Seen) checker.Reply) bool {
	some := false
	for _, s := range scenarios {
		r := l.reply(s, history.OnWrite, of)
		if l.in(s, history.OnRead) != nil {
			r = l.reply(s, history.OnRead, of)
		}
		if r != checker.Yes && r != checker.NotAsked {
			return false
		}
		some = some || r == checker.Yes
	}
	return some
}

// fenceSaves says that the lock kept its promise under every fault, that its tokens saved the data each
// time, and that others worked on while a holder was stopped.
func (l Lock) fenceSaves() bool {
	return l.Token && l.always(inside, promise) && l.always(inside, fenced) && l.reply(stopped, history.OnWrite, wentOn) == checker.Yes
}

// waits says that the lock lost no data without a fence, as it waits for its holder.
func (l Lock) waits() bool {
	return !l.Leased && l.always(inside, unfenced)
}

// onRedis says that Redis alone stands behind the lock.
func (l Lock) onRedis() bool { return strings.HasPrefix(l.Backend, "red") }

// cheap is the lock with leases that kept its promise where nothing goes wrong and has the fewest
// servers, of several the quickest.
func (e Evidence) cheap() []Lock {
	fit := e.references(func(l Lock) bool { return l.Leased && l.reply(quiet, history.OnWrite, promise) == checker.Yes })
	slices.SortStableFunc(fit, func(a, b Lock) int {
		if a.Count != b.Count || a.Acquire == nil || b.Acquire == nil {
			return a.Count - b.Count
		}
		return int(a.Acquire.P50 - b.Acquire.P50)
	})
	return fit[:min(1, len(fit))]
}

func (e Evidence) references(fits func(Lock) bool) (all []Lock) {
	for _, l := range e.Locks {
		if l.reference() && fits(l) {
			all = append(all, l)
		}
	}
	return all
}

// needs are the rows of the advice: what to take is decided by what was shown.
func (e Evidence) needs() []need {
	saves, waits, keyed := e.references(Lock.fenceSaves), e.references(Lock.waits), e.references(func(l Lock) bool {
		return l.reply(chargedOnce, history.OnWrite, once) == checker.Yes
	})
	redis := e.references(func(l Lock) bool { return l.onRedis() && l.fenceSaves() })
	outside := names(keyed, "or") + ", with an idempotency key"
	if len(keyed) == len(e.references(func(Lock) bool { return true })) {
		outside = "any, with an idempotency key"
	}
	return []need{
		{"to save duplicate work; a second holder now and then does no harm", names(e.cheap(), "or"), "no"},
		{"to protect data that checks a token on each write", names(saves, "or"), "yes, and send the token with reads too"},
		{"to protect data in PostgreSQL itself", names(waits, "or"), "no, while no idle timeout ends the lock; but a stopped holder makes everybody wait"},
		{"to protect data, with Redis alone", names(redis, "or"), e.redisTokens()},
		{"an effect outside of your database (a payment, a mail)", outside, e.outsideFence()},
	}
}

// redisTokens says what becomes of the tokens of each lock on Redis.
func (e Evidence) redisTokens() string {
	var lost, none []Lock
	var says []string
	for _, l := range e.references(Lock.onRedis) {
		falls, broke := false, ""
		for _, s := range l.Shown {
			all, _ := s.broken()
			falls = falls || s.Scenario == amnesia && slices.Contains(all, "fencing-monotonic")
			if broke == "" && len(all) > 0 {
				broke = fmt.Sprintf("%s broke %s in %s", code(l.Name()), text.Escaped(all[0]), code(s.Scenario))
			}
		}
		switch {
		case !l.Token:
			none = append(none, l)
		case falls:
			lost = append(lost, l)
		case broke != "":
			says = append(says, broke)
		}
	}
	if len(lost) > 0 {
		loses := map[bool]string{true: " loses its counter", false: " lose their counters"}[len(lost) == 1]
		says = append([]string{names(lost, "and") + loses + " of tokens in a crash"}, says...)
	}
	if len(none) > 0 {
		says = append(says, names(none, "and")+" has none")
	}
	return strings.Join(says, "; ")
}

// outsideFence says whether a token saved an effect outside.
func (e Evidence) outsideFence() string {
	if helped := e.references(func(l Lock) bool { return l.Leased && l.reply(charged, history.OnWrite, onceFenced) == checker.Yes }); len(helped) > 0 {
		return "not decided: " + names(helped, "and") + " had no second effect in these runs"
	}
	return "a token cannot take back what has happened"
}

// names lists locks: "`etcd` or `zookeeper`".
func names(locks []Lock, and string) string {
	if len(locks) == 0 {
		return "none of them"
	}
	var all []string
	for _, l := range locks {
		all = append(all, code(l.Name()))
	}
	if len(all) == 1 {
		return all[0]
	}
	return strings.Join(all[:len(all)-1], ", ") + " " + and + " " + all[len(all)-1]
}
