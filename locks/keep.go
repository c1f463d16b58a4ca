package locks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dlmtest/dlmtest/history"
)

// Patience is how long a holder waits for the answer to a renewal.
type Patience bool

// The two kinds of holders. One gives a request up after a third of the lease, as a client
// does whose calls have a limit, and then asks again: what was answered late it never
// learns. The other waits for each answer, for twice the lease at most, and asks nothing
// meanwhile: so it is told ok when its lease may be long over, if the service says that.
const (
	GivesUp Patience = false
	Waits   Patience = true
)

// limit is that of one renewal of a lease.
func (p Patience) limit(lease time.Duration) time.Duration {
	if p == Waits {
		return 2 * lease
	}
	return lease / 3
}

// Renew extends g by e a third of its lease after the last time it asked (the acquire
// counts: its answer may have taken most of the lease), until ctx ends or the service
// knows g no more, which it returns. Where an answer took longer, or
// was given up, the next request follows at once, while one that was refused at once is
// asked again no sooner: no request is sent while another is waited for. Before each it
// calls before, which may block; each new claim goes to renewed.
func Renew(ctx context.Context, e Extender, g *Grant, patience Patience, before func(), renewed func(*Grant)) error {
	beat := g.Lease / 3
	for wait := min(beat, g.Valid()-2*beat); ; {
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
		if ctx.Err() != nil { // select chooses freely where a wait is over as well
			return nil
		}
		before()
		asked := history.Mono()
		// Not ctx: a renewal in flight is finished, not cut into an unknown.
		one, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience.limit(g.Lease))
		next, err := e.Extend(one, g)
		cancel()
		switch {
		case err == nil:
			g = next
			renewed(g)
		case errors.Is(err, ErrNotHeld):
			return err
		}
		wait = beat - time.Duration(history.Mono()-asked)
	}
}

// Keep renews g by Renew until stop is called. It calls lost once, when the service
// knows g no more, or an eighth of the lease before the deadline of the last renewal
// that was answered: from then on nobody else's grant is impossible. stop waits for the
// answer to a request that is under way, and until then the loss is told.
func Keep(ctx context.Context, e Extender, g *Grant, patience Patience, before func(), lost func(why string)) (stop func()) {
	if g.Lease == 0 {
		return func() {}
	}
	asks, askNoMore := context.WithCancel(ctx)
	watched, watchNoMore := context.WithCancel(ctx)
	k := keeper{g: g, answers: make(chan *Grant, 1), gone: make(chan error, 1)}
	done := make(chan struct{})
	asking := make(chan struct{})
	go func() {
		defer close(asking)
		if err := Renew(asks, e, g, patience, before, func(next *Grant) { k.renewed(watched, next) }); err != nil {
			k.gone <- err
		}
	}()
	go func() { defer close(done); k.watch(watched, lost) }()
	return func() { askNoMore(); <-asking; watchNoMore(); <-done }
}

type keeper struct {
	g       *Grant
	answers chan *Grant
	gone    chan error
}

func (k *keeper) renewed(ctx context.Context, next *Grant) {
	select {
	case k.answers <- next:
	case <-ctx.Done():
	}
}

// watch tells of the loss in time, whatever has become of a request.
func (k *keeper) watch(ctx context.Context, lost func(string)) {
	claimed := k.g
	for {
		left := claimed.Valid() - k.g.Lease/8
		timer := time.NewTimer(left)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case claimed = <-k.answers:
			timer.Stop()
		case err := <-k.gone:
			timer.Stop()
			lost(err.Error())
			return
		case <-timer.C:
			lost(fmt.Sprintf("no renewal was answered, and the claim ends in %v", claimed.Valid().Round(time.Millisecond)))
			k.drain(ctx)
			return
		}
	}
}

// drain takes answers that come too late: the holder was told.
func (k *keeper) drain(ctx context.Context) {
	for {
		select {
		case <-k.answers:
		case <-k.gone: //nolint:errcheck // the holder was told
		case <-ctx.Done():
			return
		}
	}
}
