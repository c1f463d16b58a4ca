package checker

import (
	"regexp"
	"testing"

	"github.com/dlmtest/dlmtest/history"
)

var inMs = regexp.MustCompile(`(\d+)000000\b`)

// asks is a question about a history, and the words of it, times in ms.
type asks struct {
	name string
	ask  func(*run, *keyLog) []question
	what func(*builder)
	want string
}

func asksThat(t *testing.T, rows []asks) {
	for _, c := range rows {
		b := newBuilder()
		b.setup.Servers = []string{"server-1"}
		c.what(b)
		r := newRun(b.done())
		if got := inMs.ReplaceAllString(asked(c.ask(r, r.named("k"))), "$1"); got != c.want {
			t.Errorf("%s:\n%swant\n%s", c.name, got, c.want)
		}
	}
}

// What Porcupine is asked of holds that nothing had ended, and of looks.
func TestAskedOfHolds(t *testing.T) {
	told := func(b *builder) { // it may be lost, and is safe again, until its lease is over
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.note(300*ms, h, history.Suspended)
		b.note(400*ms, h, history.Resumed)
	}
	overAtOnce := func(b *builder) {
		b.fault(1990*ms, 2100*ms, 1, "kill", "server-1")
		b.grantOf(2*sec, 2020*ms, "client-2", 2)
	}
	untold := func(b *builder) { b.setup.Promise.Validity = history.Untold }
	readers := func(b *builder) { b.setup.Kind = history.ReadWrite }
	belief, validity := (*run).askBelief, (*run).askValidity
	asksThat(t, []asks{
		{"kept", belief, bothOf(told, overAtOnce),
			"mutex; acquire ok client-1/1 #1 9-10; release ok client-1/1 9-...; acquire ok client-2/2 #2 2019-2020; " +
				"release ok client-2/2 2019-...\n" +
				"fenced-mutex; acquire ok client-1/1 #1 9-10; release ok client-1/1 9-...; acquire ok client-2/2 #2 2019-2020; " +
				"release ok client-2/2 2019-...\n" +
				"mutex; acquire ok client-1/1 #1 10-10; release ok client-1/1 299-...; acquire ok client-1/1 1 #1 400-400; " +
				"release ok client-1/1 1 1008-...; acquire ok client-2/2 #2 2019-2020; release ok client-2/2 2019-...\n"},
		{"kept, of a lock that reckons no validity", validity, bothOf(untold, bothOf(told, overAtOnce)),
			"mutex; acquire ok client-1/1 #1 10-10; release ok client-1/1 299-...; acquire ok client-1/1 1 #1 400-400; " +
				"release ok client-1/1 1 1008-...; acquire ok client-2/2 #2 2019-2020; release ok client-2/2 2019-...\n"},
		{"kept for ever", validity, bothOf(untold, bothOf(unleased, told)),
			"mutex; acquire ok client-1/1 #1 10-10; release ok client-1/1 299-...; acquire ok client-1/1 1 #1 400-400\n"},
		{"never kept", validity, bothOf(untold, overAtOnce), "mutex\n"},
		{"shares of a lock that tells its validity", validity, bothOf(readers, told),
			"rwlock; acquire ok client-1/1 0 0 10-10; release ok client-1/1 0 0 300-...; acquire ok client-1/1 1 0 400-400; " +
				"release ok client-1/1 1 0 1008-...\n"},
		{"shares of one that does not", validity, bothOf(readers, bothOf(untold, told)),
			"rwlock; acquire ok client-1/1 0 0 10-10; release ok client-1/1 0 0 299-...; acquire ok client-1/1 1 0 400-400; " +
				"release ok client-1/1 1 0 1008-...\n"},
		{"a look", (*run).askTokens, func(b *builder) {
			h := b.grantOf(0, 10*ms, "client-1", 1)
			b.holder(300*ms, h.owner)
			b.ops[len(b.ops)-1].Sent = origin + 290*ms
		}, "lease-untimed; acquire ok client-1/1 #1 9-10\n" +
			"lease-untimed; acquire ok client-1/1 #1 290-290\n"},
	})
}

// What it is asked of a copy that shows what it had not accepted, and of answers that come late.
func TestAskedOfAnswers(t *testing.T) {
	writes := func(b *builder) {
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.write(20*ms, h)
		b.write(30*ms, h)
	}
	fenced, claims := (*run).askFenced, (*run).askClaims
	updates := func(r *run, k *keyLog) []question { return r.askUpdates(k, fencedOf) }
	asksThat(t, []asks{
		{"two writes with a token", fenced, writes, "fenced-register; write ok 3 #1 3-3; write ok 6 #1 6-6\n"},
		{"two writes with a token, which one uses up", fenced, bothOf(func(b *builder) { b.setup.Fencing = history.Strict }, writes),
			"fenced-register; write ok 3 #2 3-3; write ok 3 used #3 3-3; write ok 6 #2 6-6; write ok 6 used #3 6-6\n" +
				"fenced-register; write ok used #2 3-3; write ok 6 #1 6-6\n"},
		{"it was refused and stands there", updates, stands(false, false, "v2"),
			"cas-register; cas ok v1 11-11; cas ok v2 v3 24-24; cas ok v2 14-24\n"},
		{"it is in no log and stands there", updates, stands(true, false, "v2"),
			"cas-register; cas ok v1 11-11; cas ok v2 v3 23-23; cas ok v2 13-23\n"},
		{"what stands there is nobody's", updates, stands(false, false, "somebody's"),
			"cas-register; cas ok v1 11-11; cas ok somebody's v3 24-24\n"},
		{"it stands there, and this is another key", updates, func(b *builder) {
			stands(false, false, "v2")(b)
			elsewhere(b)
			b.grantOf(3*sec, 3010*ms, "client-1", 9)
		}, "cas-register\n"},
		{"given back and claimed at once", claims, func(b *builder) {
			h := b.grantOf(0, 10*ms, "client-1", 1)
			b.does(20*ms, h, history.Release, history.OK)
			b.op(21*ms, "client-1", history.Invoke, history.Release, "k").Owner = h.owner
			b.op(21*ms, "client-1", history.OK, history.Release, "k").Owner = h.owner
		}, "claims; acquire ok client-1/1 #1 9-10; release ok client-1/1 20-21; release ok client-1/1 21000001-21000001\n"},
		{"renewed while another was granted it", claims, renewedBeside(history.Mutex),
			"claims; acquire ok client-1/1 #1 9-10; acquire ok client-2/2 #2 1199-1200; extend ok client-1/1 1200000001-1400\n"},
		{"renewed while others left no permit", claims, renewedBeside(history.Semaphore),
			"claims; acquire ok client-1/1 9-10; acquire ok client-3/2 1179-1180; acquire ok client-2/3 1199-1200; extend ok client-1/1 1200000001-1400\n"},
		{"more permits given back than it had", claims, givesInParts(2, 1, history.OK, 2),
			"claims; acquire ok client-1/1 #1 9-10; release ok client-1/1 100-101; release ok client-1/1 200-201; release ok client-1/1 200-201\n"},
		{"told that it is safe", claims, resumes(500*ms, 1500*ms, 1200*ms),
			"claims; acquire ok client-1/1 #1 9-10; acquire ok client-2/2 #2 1199-1200; acquire ok client-3/3 #3 3989-3990; " +
				"release ok client-2/2 1250-1251; release ok client-3/3 4000-4001; extend ok client-1/1 1250000001-1500\n"},
		{"another key's holder was told that it is safe", claims, func(b *builder) {
			resumes(500*ms, 1500*ms, 1200*ms)(b)
			elsewhere(b)
			b.grantOf(5*sec, 5010*ms, "client-1", 9)
		}, "claims; acquire ok client-1/4 #9 5009-5010\n"},
	})
}

// renewedBeside is a renewal that is asked for after its lease is over, and told ok when another has been granted what it had.
func renewedBeside(kind history.Kind) func(*builder) {
	return func(b *builder) {
		if b.setup.Kind = kind; kind == history.Semaphore {
			b.setup.Permits, b.setup.Promise.Permits = 2, true
		}
		h := b.permits(0, 10*ms, "client-1", 1, 1)
		b.op(1100*ms, "client-1", history.Invoke, history.Extend, "k").Owner = h.owner
		if kind == history.Semaphore {
			b.permits(1150*ms, 1180*ms, "client-3", 1, 3)
		}
		b.permits(1150*ms, 1200*ms, "client-2", 1, 2)
		b.claim(b.op(1400*ms, "client-1", history.OK, history.Extend, "k"), h, 1100*ms)
	}
}

// elsewhere moves all that has happened to another key.
func elsewhere(b *builder) {
	for i := range b.ops {
		b.ops[i].Key = "l"
	}
}
