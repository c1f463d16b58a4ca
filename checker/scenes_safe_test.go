package checker

import (
	"maps"

	"github.com/dlmtest/dlmtest/history"
)

// What is told of a session, and by whom: that it has survived, by its client, and that the dead hold on, by the servers.
func init() {
	for property, more := range map[string]map[string]func(*builder){
		"honest-claims": toldSafely, "lock-info": looksAtTheDead,
	} {
		maps.Copy(scenes[property], more)
	}
}

// resumes is a holder in a session of a second that is told at two times that it may be lost, and that it is safe, and another
// that is granted the key at a time.
func resumes(suspended, resumed, next int64) func(*builder) {
	return func(b *builder) {
		b.setup.Promise.Session, b.setup.Servers = true, []string{"server-1", "server-2", "server-3"}
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.note(suspended, h, history.Suspended)
		b.note(resumed, h, history.Resumed)
		b.does(next+50*ms, b.grantOf(20*ms, next, "client-2", 2), history.Release, history.OK)
		b.does(4*sec, b.grantOf(4*sec-20*ms, 4*sec-10*ms, "client-3", 3), history.Release, history.OK)
	}
}

// resumesCut is the same of one that is cut off until a time.
func resumesCut(until, resumed, next int64) func(*builder) {
	return func(b *builder) {
		resumes(500*ms, resumed, next)(b)
		b.partition(100*ms, until, 1, []string{"client-1"}, b.setup.Servers)
	}
}

var toldSafely = map[string]func(*builder){
	"violated-safe":            resumes(500*ms, 1500*ms, 1200*ms),
	"holds-safe-lately":        resumes(500*ms, 1400*ms, 1200*ms), // it may have been found alive before, and be told of it late
	"unknown-safe-two":         resumes(500*ms, 1300*ms, 400*ms),  // the service has two holders
	"violated-safe-over":       resumes(500*ms, 1600*ms, 1300*ms), // it was found alive a quarter of a lease before it was told so, at most
	"holds-safe-first":         resumes(500*ms, 700*ms, 1200*ms),
	"violated-safe-cut":        resumesCut(3*sec, 3100*ms, 2*sec),
	"violated-safe-cut-healed": resumesCut(900*ms, 3100*ms, 2*sec),
	"violated-safe-stall-else": func(b *builder) { resumes(500*ms, 1500*ms, 1200*ms)(b); b.stall(600*ms, "client-2", 300*ms) },
	"holds-safe-stalled": func(b *builder) { // it lost its link long before it was told
		resumes(3010*ms, 3320*ms, 1800*ms)(b)
		b.stall(3*sec, "client-1", 2*sec)
	},
	"violated-safe-paused": func(b *builder) { // nothing had touched its link before
		resumes(3010*ms, 3320*ms, 1800*ms)(b)
		b.fault(sec, 3*sec, 1, "pause", "client-1")
	},
	"holds-safe-reset-paused": func(b *builder) {
		resumes(3010*ms, 3320*ms, 1800*ms)(b)
		b.fault(950*ms, 960*ms, 1, "reset", "client-1")
		b.fault(sec, 3*sec, 2, "pause", "client-1")
	},
	"holds-safe-forgets": func(b *builder) {
		resumes(500*ms, 1500*ms, 1200*ms)(b)
		for i, server := range b.setup.Servers {
			b.fault(600*ms, 700*ms, i+1, "crash", server)
		}
	},
}

// looksAtDead is a look at the servers, at a time, that names the holder of a session of a second, killed at 0.1 s.
func looksAtDead(at int64) func(*builder) {
	return func(b *builder) {
		b.setup.Promise.Session, b.setup.Servers, b.setup.Promise.Bound = true, []string{"server-1"}, 5e8
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.fault(100*ms, 9*sec, 1, "kill", "client-1")
		b.seen(at, at+2*ms, h.owner)
	}
}

var looksAtTheDead = map[string]func(*builder){
	"violated-session-dead":   looksAtDead(1650 * ms),
	"holds-session-dead-owed": looksAtDead(1550 * ms),
	"holds-session-dead-cut": func(b *builder) { // which may have kept its end from the servers
		looksAtDead(1650 * ms)(b)
		b.partition(50*ms, 3*sec, 2, []string{"client-1"}, b.setup.Servers)
	},
}
