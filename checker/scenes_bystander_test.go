package checker

import (
	"fmt"
	"maps"

	"github.com/dlmtest/dlmtest/history"
)

// Scenes of runs whose servers nobody names, of shares that are asked for in turn, and of sessions that end before their time.
func init() {
	maps.Copy(scenes["false-loss"], lossesBesideOthers)
	maps.Copy(scenes["deadlock-freedom"], vainInTurn)
	maps.Copy(scenes["recovery"], sessionsOverEarly)
}

// lostBeside is a holder whose renewal is refused in the middle of its lease while a node is paused. Nobody names the servers.
func lostBeside(kind, victim string) func(*builder) {
	return func(b *builder) {
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.fault(50*ms, 150*ms, 1, kind, victim)
		b.does(200*ms, h, history.Extend, history.Fail)
		b.session1(2*sec, "client-2", 2)
	}
}

var lossesBesideOthers = map[string]func(*builder){
	"violated-bystander":       lostBeside("pause", "client-3"),
	"violated-bystander-clock": lostBeside("clock", "client-3"), // which never asked
	"holds-nameless-server":    lostBeside("pause", "server-1"),
}

// vain is a semaphore without a lease of which one client takes a permit again and again, while some others ask for one in turn, and give up
// after a time. In the middle one of them may be granted it for a while.
func vain(others, limit int64, permits int, between bool) func(*builder) {
	return func(b *builder) {
		b.kind(history.Semaphore)
		unleased(b)
		b.setup.Permits = permits
		for i := range int64(10) {
			h := b.permits(i*sec+i, i*sec+10*ms, "client-1", 1, i+1)
			b.does(i*sec+990*ms, h, history.Release, history.OK)
		}
		for i := int64(0); i*limit < 8*sec; i++ {
			from, to, node := sec+i*limit, sec+(i+1)*limit-ms, fmt.Sprint("client-", 2+i%others)
			if between && i == 4*sec/limit {
				b.does(to, b.permits(from, from+ms, node, 1, 20), history.Release, history.OK)
			} else {
				b.refuse(from, to, node, history.Acquire, 0)
			}
		}
	}
}

var vainInTurn = map[string]func(*builder){
	"violated-vain-in-turn": vain(2, 800*ms, 2, false), // each alone did, with pauses
	"violated-vain-by-six":  vain(6, 800*ms, 2, false), // none of them waited for long, whatever its pauses count
	"unknown-vain-full":     vain(6, 800*ms, 1, false),
	"unknown-vain-between":  vain(6, 800*ms, 2, true), // somebody had it for a while
}

// overEarly is the holder of a session that is killed, after which another is granted the key at a time. Nobody tells a deadline.
func overEarly(next int64) func(*builder) {
	return func(b *builder) {
		ofSession(&b.setup.Promise)
		b.setup.Servers, b.setup.Promise.Validity = []string{"server-1"}, history.Untold
		b.setup.Promise.Renews = true
		b.grantOf(0, 10*ms, "client-1", 1)
		b.ops[len(b.ops)-1].Deadline = 0
		b.fault(100*ms, 150*ms, 1, "kill", "client-1")
		o := b.grantOf(20*ms, next, "client-2", 2)
		b.ops[len(b.ops)-1].Deadline = 0
		b.does(next+100*ms, o, history.Release, history.OK)
	}
}

var sessionsOverEarly = map[string]func(*builder){
	"holds-session-over-early-na": overEarly(300 * ms),
	"holds-session-over":          overEarly(700 * ms),
}
