package locks

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/history"
)

func TestOwnersDifferAfterRestart(t *testing.T) {
	before, after := owners{client: "c1"}, owners{client: "c1"} // one client, killed and started again
	seen := map[string]bool{}
	for range 100 {
		for _, o := range []string{before.next(), after.next()} {
			if seen[o] {
				t.Fatalf("owner %s twice", o)
			}
			seen[o] = true
			if !strings.HasPrefix(o, "c1/") || strings.Count(o, "/") != 2 {
				t.Fatalf("owner %q is not client/n/random", o)
			}
		}
	}
}

func TestJitterIsSeeded(t *testing.T) {
	draw := func(seed uint64, client string) (out []time.Duration) {
		j := newJitter(Config{Seed: seed, Client: client}, time.Millisecond, time.Second)
		for range 20 {
			d := j.next()
			if d < time.Millisecond || d >= time.Second {
				t.Fatalf("delay %v is out of bounds", d)
			}
			out = append(out, d)
		}
		return out
	}
	if !slices.Equal(draw(7, "a"), draw(7, "a")) {
		t.Error("one seed gave two sequences")
	}
	if slices.Equal(draw(7, "a"), draw(8, "a")) || slices.Equal(draw(7, "a"), draw(7, "b")) {
		t.Error("another seed or client gave the same sequence")
	}
}

func TestPoll(t *testing.T) {
	j := newJitter(Config{}, time.Millisecond, 2*time.Millisecond)
	open := errors.New("answer lost")
	n := 0
	_, err := poll(t.Context(), j, func() (*Grant, error) {
		if n++; n == 3 {
			return nil, open
		}
		return nil, refused(ErrHeld)
	})
	if n != 3 || !errors.Is(err, open) || errors.Is(err, ErrNotGranted) {
		t.Errorf("an open outcome must end the polling as it is: %d attempts, %v", n, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err = poll(ctx, j, func() (*Grant, error) { return nil, refused(ErrHeld) })
	if !errors.Is(err, ErrNotGranted) || !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, ErrHeld) {
		t.Errorf("the wait limit must say not granted, the limit and the cause: %v", err)
	}
}

func TestInFlightOutlivesTheCallerByGrace(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	start := time.Now()
	ctx, stop := inFlight(gone, time.Minute)
	defer stop()
	if ctx.Err() != nil {
		t.Fatal("ended at once")
	}
	<-ctx.Done()
	if took := time.Since(start); took < grace/2 || took > 20*grace {
		t.Errorf("ended after %v, want about %v", took, grace)
	}
}

func TestEventsKeepOrderAndEnd(t *testing.T) {
	e := newEvents()
	for i := range 1000 { // far more than any buffer, with nobody reading
		e.tell(Suspended, string(rune('a'+i%26)), "")
	}
	for i := range 1000 {
		if ev := <-e.Events(); ev.Owner != string(rune('a'+i%26)) || ev.At.Raw == 0 {
			t.Fatalf("event %d is %+v", i, ev)
		}
	}
	e.tell(Lost, "last", "")
	e.close()
	e.close()
	e.tell(Lost, "too late", "")
	var rest []string
	for ev := range e.Events() {
		rest = append(rest, ev.Owner)
	}
	if !slices.Equal(rest, []string{"last"}) {
		t.Errorf("after close: %v", rest)
	}
}

func TestRenewedNeverMovesBack(t *testing.T) {
	g := &Grant{Owner: "o", Token: 3, Deadline: 100}
	r := renewed(g, history.Stamp{Mono: 7}, 90)
	if r.Deadline != 100 || r.Sent.Mono != 7 || r.Owner != "o" || r.Token != 3 || g.Sent.Mono != 0 {
		t.Errorf("got %+v of %+v", r, g)
	}
}

func TestTable(t *testing.T) {
	want := []string{"etcd", "grpc", "http", "postgres", "postgres-advisory", "redis", "redis-replicated", "redlock", "zookeeper"}
	if got := Intact(); !slices.Equal(got, want) {
		t.Errorf("names %v, want %v", got, want)
	}
	for name, l := range Table {
		p := l.Promise
		if p.Backend != name || p.About == "" || p.Bound <= 0 || l.Open == nil || l.Profile == "" || l.Port == 0 {
			t.Errorf("%s is incomplete: %+v", name, l)
		}
		if p.Extends && !p.Leased {
			t.Errorf("%s extends, but has no lease", name)
		}
	}
}

func TestOpenRefusesLeasesThatTheServiceWouldChange(t *testing.T) {
	for name, lease := range map[string]time.Duration{"etcd": 2500 * time.Millisecond, "redis": 1500 * time.Microsecond, "redlock": 0} {
		_, err := Table[name].Open(t.Context(), Config{Endpoints: []string{"127.0.0.1:1"}, Lease: lease})
		if err == nil || !strings.Contains(err.Error(), "ask for") {
			t.Errorf("%s with lease %v: %v", name, lease, err)
		}
	}
	if got := wholeSeconds(2500 * time.Millisecond); got != 3*time.Second {
		t.Errorf("2.5s becomes %v", got)
	}
}
