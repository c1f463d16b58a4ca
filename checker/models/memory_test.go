package models

import (
	"fmt"
	"testing"

	"github.com/dlmtest/dlmtest/history"
)

// TestLeaseForgets has many grants, each with a waiter that is granted last
// possible moment: nothing of the long past may be kept.
func TestLeaseForgets(t *testing.T) {
	d := newLease(Options{}).(*front)
	now := int64(1)
	add := func(p int, typ history.Type, token, lease int64) {
		if err := d.Add(Event{Time: now, Process: p, Type: typ, F: Acquire, Token: token, Lease: lease}); err != nil {
			t.Fatal(err)
		}
	}
	add(0, history.Invoke, 0, 0)
	for i := range int64(5000) {
		p := int(i) % 2
		add(1-p, history.Invoke, 0, 0)
		add(p, history.OK, i+1, 10)
		now += 10
	}
	l := d.keys[""].judge.(*either).leases
	if n := max(len(l.recent), len(l.seen), len(l.waiting)); n > 4*batch {
		t.Errorf("%d grants are kept: recent %d, seen %d, waiting %d", n, len(l.recent), len(l.seen), len(l.waiting))
	}
	chain := 0
	for s := l.last; s != nil; s = s.before {
		chain++
	}
	if chain < 2 || chain > chainKept+2 {
		t.Errorf("a chain of %d", chain)
	}
	now -= 4
	add(0, history.OK, 9000, 10)
	r := d.End()
	if r.Found != 1 || len(r.Violations[0].Events) > 2*chainKept+4 || len(r.Violations[0].Events) < 4 {
		t.Errorf("%s: %d found: %s", r.Verdict, r.Found, fmt.Sprint(r.Violations))
	}
}

// TestEachIsCounted has histories with several violations, all to be counted once.
func TestEachIsCounted(t *testing.T) {
	for _, c := range []struct {
		name, model, text string
		want              int
	}{
		{"two late", "mutex", "1 acquire\n1 ok acquire\n1 release\n2 acquire\n2 ok acquire\n2 release\n2 ok release\n3 acquire\n3 ok acquire\n1 fail release", 2},
		{"two failures, one use", "ownerless", "1 acquire\n1 ok acquire\n3 release\n4 release\n2 acquire\n2 ok acquire\n3 fail release\n4 fail release", 1},
		{"a use that lost its release stays lost", "ownerless", "1 acquire\n1 ok acquire\n3 release\n2 acquire\n2 ok acquire\n3 fail release\n4 release\n4 fail release\n5 release\n5 ok release", 1},
		{"a use that is lost is not owed", "ownerless", "1 acquire\n1 ok acquire\n3 release\n2 acquire\n2 ok acquire\n3 fail release\n4 release\n5 acquire\n5 ok acquire\n4 ok release", 1},
		{"read too early, then in order", "fenced-register", "1 read\n1 ok read v=a\n2 write v=b t=2\n2 ok write v=b t=2\n3 write v=a t=1\n3 info write v=a t=1", 1},
		{"two too early", "lease", "1 acquire at=1\n1 ok acquire at=2 t=1 l=10\n2 acquire at=3\n2 ok acquire at=4 t=2 l=10\n3 acquire at=5\n3 ok acquire at=6 t=3 l=10", 2},
		{"early, then in time", "lease", "1 acquire at=1\n1 ok acquire at=2 t=1 l=10\n2 acquire at=3\n2 ok acquire at=4 t=2 l=10\n3 acquire at=5\n3 ok acquire at=14 t=3 l=10", 1},
		{"windows, once beside what is renewed later", "lease-windows", "1 acquire at=1\n1 ok acquire at=2 l=10\n2 acquire at=3\n2 ok acquire at=4 l=3\n1 extend at=5\n1 fail extend at=6", 1},
		{"windows, the longest", "lease-windows", "1 acquire at=1\n1 ok acquire at=2 l=90\n2 acquire at=3\n2 ok acquire at=3 l=50\n2 release at=4\n2 ok release at=5\n3 acquire at=6\n3 ok acquire at=7 l=9", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, _ := Named(c.model)
			r, err := decide(m, Options{}, script(c.text))
			if err != nil || r.Found != c.want {
				t.Errorf("%v, %d found: %v", err, r.Found, r.Violations)
			}
		})
	}
}

// TestTokenOfLongAgo has a token again that has been forgotten among the recent
// ones; the largest at the call still tells.
func TestTokenOfLongAgo(t *testing.T) {
	defer func(old int) { batch = old }(batch)
	batch = 1
	m, _ := Named("lease-untimed")
	r, err := decide(m, Options{}, script("1 acquire\n1 ok acquire t=5\n2 acquire\n3 acquire\n3 ok acquire t=6\n2 ok acquire t=5"))
	if err != nil || r.Found != 1 || r.Violations[0].at != 5 {
		t.Errorf("%v: %s, %v", err, r.Verdict, r.Violations)
	}
}

// TestForgottenOwner has an owner that was forgotten while idle go on by its old
// process, and be given back by another.
func TestForgottenOwner(t *testing.T) {
	d := newMutex(Options{})
	add := func(p int, typ history.Type, f F, owner string) {
		if err := d.Add(Event{Process: p, Type: typ, F: f, Owner: owner}); err != nil {
			t.Fatal(err)
		}
	}
	add(1, history.Invoke, Acquire, "x")
	add(1, history.Fail, Acquire, "x")
	for i := range 2 * idleKept {
		add(2, history.Invoke, Acquire, fmt.Sprint(i))
		add(2, history.Fail, Acquire, fmt.Sprint(i))
	}
	add(1, history.Invoke, Acquire, "x")
	add(1, history.OK, Acquire, "x")
	add(3, history.Invoke, Release, "x")
	add(3, history.OK, Release, "x")
	if r := d.End(); r.Verdict != Holds {
		t.Errorf("%s: %s", r.Verdict, r.Reason)
	}
}

// TestOpsAsksNobody: collecting operations judges what a model assumes, and
// leaves Porcupine alone.
func TestOpsAsksNobody(t *testing.T) {
	m, _ := Named("fenced-register")
	if ops := Ops(m, Options{}, script("1 write v=a t=1\n2 write v=a t=2")); ops != nil {
		t.Errorf("operations of a history that breaks an assumption: %v", ops)
	}
	m, _ = Named("register")
	o := Options{Ask: func(string, Options, []Op) string { t.Error("Porcupine was asked"); return Legal }}
	if ops := Ops(m, o, script("1 write v=a\n1 ok write v=a")); len(ops) != 1 || len(ops[0]) != 1 {
		t.Errorf("%v", ops)
	}
}

// TestKeysEndInOrder: of several reasons for a doubt, that of the first key is
// told, each time.
func TestKeysEndInOrder(t *testing.T) {
	m, _ := Named("kv")
	o := Options{Ask: func(_ string, _ Options, ops []Op) string { return "gave up: " + ops[0].Value }}
	var text string
	for _, key := range []string{"d", "b", "a", "c"} {
		text += fmt.Sprintf("1 append k=%s v=%s\n1 ok append k=%s v=%s\n", key, key, key, key)
	}
	for range 20 {
		if r, err := decide(m, o, script(text)); err != nil || r.Reason != "Porcupine gave up: a" {
			t.Fatalf("%v: %s", err, r.Reason)
		}
	}
}

// TestCounts has an event of each kind, also renewals that do not matter.
func TestCounts(t *testing.T) {
	m, _ := Named("mutex")
	r, err := decide(m, Options{}, script("1 acquire\n1 ok acquire\n1 extend\n1 ok extend\n2 try\n2 fail try\n3 acquire k=b\n3 info acquire k=b\n4 acquire"))
	if want := (Counts{Events: 9, OK: 1, Failed: 1, Unknown: 2, Keys: 2, Passed: 2}); err != nil || r.Counts != want {
		t.Errorf("%v, counts %+v, want %+v", err, r.Counts, want)
	}
}
