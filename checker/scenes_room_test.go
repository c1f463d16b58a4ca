package checker

import (
	"maps"

	"github.com/dlmtest/dlmtest/history"
)

// The scenes of what excuses a lock, and of what does not, though it looks alike: links that deliver nothing, other holders beside whom there
// was room, and a recording that was interrupted.
func init() {
	for property, more := range map[string]map[string]func(*builder){
		"honest-claims": toldOverDeadLinks,
	} {
		maps.Copy(scenes[property], more)
	}
}

// overLinks is a fault of some links of a client to its servers.
func overLinks(n int, kind, node string, cut ...string) func(*builder, *held) {
	return func(b *builder, _ *held) { b.fault(200*ms, 5*sec, n, kind, node, cut...) }
}

var (
	bothSwallowed     = overLinks(1, "blackhole", "client-1", "server-1", "server-2")
	toldOverDeadLinks = map[string]func(*builder){
		"violated-nobody-swallowed-renews": toldOK(800*ms, history.Extend, plainLease, bothSwallowed),
		"violated-nobody-swallowed-frees":  toldOK(800*ms, history.Release, plainLease, bothSwallowed),
		"violated-nobody-reset-grants":     toldOK(sec, history.Acquire, plainLease, overLinks(1, "reset", "client-2", "server-1", "server-2")),
		"violated-nobody-one-reset-one-swallowed": toldOK(800*ms, history.Extend, plainLease,
			overLinks(1, "reset", "client-1", "server-1"), overLinks(2, "blackhole", "client-1", "server-2")),
		"violated-nobody-swallowed-and-away": toldOK(800*ms, history.Extend, plainLease,
			overLinks(1, "blackhole", "client-1", "server-1"), down(2, "pause", "server-2")),
		"holds-nobody-swallowed-yet":           toldOK(600*ms, history.Extend, plainLease, bothSwallowed), // it may have come late
		"holds-nobody-swallowed-any-more":      toldOK(5*sec, history.Acquire, plainLease, overLinks(1, "blackhole", "client-2", "server-1", "server-2")),
		"holds-nobody-swallowed-one-left":      toldOK(800*ms, history.Extend, plainLease, overLinks(1, "blackhole", "client-1", "server-1")),
		"holds-nobody-swallowed-other-client":  toldOK(800*ms, history.Extend, plainLease, overLinks(1, "blackhole", "client-2", "server-1", "server-2")),
		"holds-nobody-swallowed-untold":        toldOK(800*ms, history.Extend, plainLease, overLinks(1, "blackhole", "client-1")), // to whom, nobody knows
		"holds-nobody-swallowed-session":       toldOK(800*ms, history.Extend, ofWatchdog, bothSwallowed),
		"holds-nobody-slow-links":              toldOK(800*ms, history.Extend, plainLease, overLinks(1, "latency", "client-1", "server-1", "server-2")),
		"holds-nobody-narrow-links":            toldOK(800*ms, history.Extend, plainLease, overLinks(1, "bandwidth", "client-1", "server-1", "server-2")),
		"holds-nobody-link-cut":                toldOK(800*ms, history.Extend, plainLease, overLinks(1, "cut-link", "client-1", "server-1", "server-2")),
		"holds-nobody-answer-held-at-message":  toldOK(800*ms, history.Extend, plainLease, overLinks(1, "hold-answer", "client-1", "server-1", "server-2")),
		"holds-nobody-request-held-at-message": toldOK(800*ms, history.Release, plainLease, overLinks(1, "hold-request", "client-1", "server-1", "server-2")),
		"holds-nobody-swallowed-meanwhile": func(b *builder) { // it was asked for before the links took everything, and answered while they did not yet
			b.setup.Servers = []string{"server-1", "server-2"}
			h := b.grantOf(0, 10*ms, "client-1", 1)
			b.op(190*ms, h.node, history.Invoke, history.Extend, "k").Owner = h.owner
			bothSwallowed(b, h)
			b.claim(b.op(800*ms, h.node, history.OK, history.Extend, "k"), h, 190*ms)
		},
	}
)
