package locks

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/history"
)

// stalling answers nothing to its first request, as a service does that has a stopped
// member, and renews by each later one.
type stalling struct{ asked int }

func (s *stalling) Extend(ctx context.Context, g *Grant) (*Grant, error) {
	if s.asked++; s.asked == 1 {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	sent := history.Now()
	return renewed(g, sent, sent.Mono+int64(g.Lease)), nil
}

func granted(lease time.Duration) *Grant {
	return &Grant{Key: "k", Owner: "o", Lease: lease, Deadline: history.Mono() + int64(lease)}
}

// One request without an answer takes a third of the lease. Were the next to wait for as
// long again, the watchdog would give up a lock that any other member would have renewed.
func TestKeepAsksAgainAfterARequestWithoutAnswer(t *testing.T) {
	lease, lost := 3*time.Second, make(chan string, 1)
	s := &stalling{}
	stop := Keep(t.Context(), s, granted(lease), GivesUp, func() {}, func(why string) { lost <- why })
	select {
	case why := <-lost:
		t.Errorf("told of a loss: %s", why)
	case <-time.After(lease + lease/4):
	}
	stop()
	if s.asked < 2 {
		t.Errorf("asked %d times", s.asked)
	}
}

// refusing says at once that it cannot be reached.
type refusing struct{ asked int }

func (r *refusing) Extend(context.Context, *Grant) (*Grant, error) {
	r.asked++
	return nil, errors.New("connection refused")
}

// Who is refused at once asks no more often than who is answered, and what was not
// answered renews nothing: the loss is told before the deadline of the grant.
func TestKeepDoesNotSpin(t *testing.T) {
	g, lost := granted(600*time.Millisecond), make(chan struct{})
	r := &refusing{}
	stop := Keep(t.Context(), r, g, GivesUp, func() {}, func(string) { close(lost) })
	<-lost
	stop()
	took := g.Lease - g.Valid()
	if most := int(took/(g.Lease/3)) + 1; r.asked > most || r.asked == 0 {
		t.Errorf("asked %d times in %v, want at most %d", r.asked, took, most)
	}
}

// late answers ok to its first request when the lease has been over for long, and at once to each later.
type late struct {
	after       time.Duration
	asked, open atomic.Int32
	together    atomic.Bool
}

func (l *late) Extend(ctx context.Context, g *Grant) (*Grant, error) {
	if l.open.Add(1) > 1 {
		l.together.Store(true)
	}
	defer l.open.Add(-1)
	sent := history.Now()
	if l.asked.Add(1) == 1 {
		select {
		case <-time.After(l.after):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return renewed(g, sent, sent.Mono+int64(g.Lease)), nil
}

// Who waits is told of an ok that came after the lease; who gives up never learns of it.
// Neither asks while it waits for an answer.
func TestLateAnswersReachWhoWaits(t *testing.T) {
	lease := 400 * time.Millisecond
	for patience, want := range map[Patience]bool{Waits: true, GivesUp: false} {
		l := &late{after: lease + lease/4}
		ctx, cancel := context.WithCancel(t.Context())
		learned := false
		renewals := 0
		if err := Renew(ctx, l, granted(lease), patience, func() {}, func(g *Grant) {
			if learned = learned || g.Valid() <= 0; learned || renewals == 3 {
				cancel()
			}
			renewals++
		}); err != nil {
			t.Error(err)
		}
		cancel()
		if learned != want || l.together.Load() {
			t.Errorf("waits %v: told of a late ok: %v; two requests at once: %v", patience, learned, l.together.Load())
		}
	}
}

// A grant whose answer took most of its lease is renewed at once: were it to wait for a third of the lease, the
// watchdog would tell of a loss of a lock that the service keeps.
func TestKeepRenewsALateGrantAtOnce(t *testing.T) {
	lease, lost := 1200*time.Millisecond, make(chan string, 1)
	g := granted(lease)
	g.Deadline -= int64(lease * 2 / 3)
	stop := Keep(t.Context(), &late{}, g, GivesUp, func() {}, func(why string) { lost <- why })
	select {
	case why := <-lost:
		t.Errorf("told of a loss: %s", why)
	case <-time.After(lease):
	}
	stop()
}

// Who stops waits for the answer to its last request, and asks no other. If the lease ends meanwhile, it is told.
func TestStopTellsOfALossWhileItWaits(t *testing.T) {
	lease := 400 * time.Millisecond
	g, lost := granted(lease), make(chan string, 1)
	l := &late{after: 3 * lease}
	begun := make(chan struct{}, 4)
	stop := Keep(t.Context(), l, g, Waits, func() { begun <- struct{}{} }, func(why string) { lost <- why })
	<-begun
	stop()
	select {
	case <-lost:
	default:
		t.Error("nobody was told that the lease ended")
	}
	for range 20 { // a wait that is over must not win against an end
		l := &late{}
		ctx, cancel := context.WithCancel(t.Context())
		over := granted(lease)
		over.Deadline = history.Mono()
		cancel()
		if err := Renew(ctx, l, over, GivesUp, func() {}, func(*Grant) {}); err != nil || l.asked.Load() > 0 {
			t.Errorf("asked %d times after its end, %v", l.asked.Load(), err)
		}
	}
}
