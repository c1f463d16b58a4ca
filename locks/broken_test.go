package locks

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

func TestControls(t *testing.T) {
	want := []string{
		"broken/claims-always-ok", "broken/clock-token", "broken/deaf-watchdog", "broken/early-revoke",
		"broken/forgets-after-restart", "broken/freed-at-once", "broken/herd", "broken/lease-put",
		"broken/no-owner-check", "broken/no-renewal", "broken/permit-leak", "broken/quorum-two",
		"broken/readers-ignored", "broken/semaphore-get", "broken/setnx-expire", "broken/shy-try",
		"broken/slow-handover", "broken/ticket-ignored", "broken/token-after-lock", "broken/token-at-queue",
	}
	if got := Controls(); !slices.Equal(got, want) {
		t.Errorf("controls %v, want %v", got, want)
	}
	for name, l := range Table {
		if strings.HasPrefix(name, "broken/") != (l.Broken != nil) {
			t.Errorf("%s: flaw %v", name, l.Broken)
		}
		if f := l.Broken; f != nil && (f.Property == "" || f.Scenario == "" || !strings.Contains(strings.ToLower(f.About), "show")) {
			t.Errorf("%s does not say what breaks, where, and when it shows: %+v", name, f)
		}
	}
}

// A control must promise what the sound lock does, or breaking it is no violation.
func TestControlsPromiseWhatTheSoundLockDoes(t *testing.T) {
	for _, name := range Controls() {
		broken := Table[name]
		want := Table[broken.Profile].Promise
		want.Backend, want.About = broken.Promise.Backend, broken.Promise.About
		want.Order = broken.Promise.Order // one promises it in vain
		if broken.Promise != want || broken.Port != Table[broken.Profile].Port {
			t.Errorf("%s promises %+v, the sound lock %+v", name, broken.Promise, want)
		}
	}
}

func TestQuorumTwo(t *testing.T) {
	l := &redlock{nodes: make([]*redis.Client, 5), node: 30 * time.Millisecond, enough: 2}
	for votes, want := range map[string]error{"yynnn": nil, "yy---": nil, "nnnny": ErrNotHeld, "ynn--": errDown} {
		if err := voting(l, votes).verdict("k", "release"); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", votes, err, want)
		}
	}
	l.behind.Wait()
}

func TestNoRenewalRemembersUntilRelease(t *testing.T) {
	l := withoutRenewal{&redisLock{cfg: Config{Lease: time.Second}}}
	g := &Grant{Key: "k", Owner: "o", Deadline: 1}
	l.held.add(g)
	if r, err := l.Extend(t.Context(), g); err != nil || r.Valid() <= 0 {
		t.Errorf("an extend of a lease long gone: %+v, %v", r, err)
	}
	l.held.drop("o")
	if _, err := l.Extend(t.Context(), g); !errors.Is(err, ErrNotHeld) {
		t.Errorf("an extend after the release: %v", err)
	}
}

// An error of a second request must not look as if the first had not been sent.
func TestSecondHidesWhatTheErrorWas(t *testing.T) {
	if second("PEXPIRE", nil) != nil {
		t.Error("an error out of nothing")
	}
	l := openRedis("127.0.0.1:1", 100*time.Millisecond)
	defer l.Close()
	err := l.Ping(context.Background()).Err()
	if !redisUntouched(err) || redisUntouched(second("PEXPIRE", err)) {
		t.Errorf("%v: a refused dial proves nothing of a second request", err)
	}
}
