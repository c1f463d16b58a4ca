package protocol

import "github.com/dlmtest/dlmtest/locks"

// whole is a session with all that an adapter can offer.
type whole interface {
	Bare
	locks.Trier
	locks.Extender
	locks.Notifier
}

// offered is s with the interfaces of what its adapter offers, and no other: who uses
// a lock asks for them by type.
func offered(s whole, offers func(string) bool) locks.Client {
	c := narrow{s}
	switch try, extend, events := offers(OfferTry), offers(OfferExtend), offers(OfferEvents); {
	case try && extend && events:
		return s
	case try && extend:
		return struct {
			narrow
			locks.Trier
			locks.Extender
		}{c, s, s}
	case try && events:
		return struct {
			narrow
			locks.Trier
			locks.Notifier
		}{c, s, s}
	case extend && events:
		return struct {
			narrow
			locks.Extender
			locks.Notifier
		}{c, s, s}
	case try:
		return struct {
			narrow
			locks.Trier
		}{c, s}
	case extend:
		return struct {
			narrow
			locks.Extender
		}{c, s}
	case events:
		return struct {
			narrow
			locks.Notifier
		}{c, s}
	}
	return c
}

// narrow is a session of which only what each lock has can be seen.
type narrow struct{ Bare }

// Bare is what every client of an adapter has. What it is asked as a ReadWriter, a
// Permitter or a Reenterer is refused where its adapter does not offer that.
type Bare interface {
	locks.Client
	locks.ReadWriter
	locks.Permitter
	locks.Reenterer
	Faulty
	// Hello is what the adapter said of itself.
	Hello() Result
}

// Faulty is a client that can be broken by its adapter.
type Faulty interface {
	// Failed is closed when the adapter has broken the protocol; Fault then says how.
	Failed() <-chan struct{}
	// Fault is what the adapter did; nil: nothing against the protocol.
	Fault() *Fault
}
