package reports

import "github.com/dlmtest/dlmtest/history"

// Silence is one thing that a library does not tell or offer its user, and what that means.
type Silence struct {
	Lacks string `json:"lacks"` // "no fencing token"
	Means string `json:"means"` // a sentence
}

// Silences lists what the library under test does not tell its user; nothing of the
// locks of dlmtest, which are no library.
func Silences(p history.Promise) (all []Silence) {
	if p.Library == "" {
		return nil
	}
	for _, s := range []struct {
		yes bool
		Silence
	}{
		{!p.Token, Silence{"no fencing token", "a stale write cannot be refused by the resource that the lock guards"}},
		{p.Leased && (p.Validity == history.Reckoned || p.Validity == history.Untold),
			Silence{"no validity", "its user does not learn until when the lock is certainly held, and cannot check that before a write"}},
		{p.Leased && !p.Session, Silence{"no signal of a loss", "a holder whose lease has ended finds out when it asks, or never"}},
		{!p.Leased && !p.Session, Silence{"no signal of a loss", "a holder whose session the server has ended finds out when it asks, or never"}},
		{!p.Leased, Silence{"no lease", "a holder that hangs keeps everybody waiting for as long as its connection stands"}},
		{p.Leased && !p.Extends && !p.Session, Silence{"no renewal", "work that lasts longer than the lease is done without the lock"}},
		{!p.Tries, Silence{"no try", "its user cannot ask without waiting"}},
		{p.Mute, Silence{"no answer to a release", "its user does not learn whether the lock was still held"}},
		{p.NoLimit, Silence{"no limit of a wait", "its user can neither bound nor cancel a wait for the lock"}},
		{!p.Order, Silence{"no order", "who waits may be overtaken by whoever comes later, again and again"}},
	} {
		if s.yes {
			all = append(all, s.Silence)
		}
	}
	return all
}

// Sentence is a silence as a reader is told it: "It gives no fencing token: …".
func (s Silence) Sentence() string { return "It gives " + s.Lacks + ": " + s.Means + "." }
