package workloads

import (
	"context"
	"math/rand/v2"
	"sync"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
)

// threads of each client in the reentrant loop: who works, and who takes the lock again.
// Two that hold it each for itself show who counts as the holder. Those of one process
// share each hold, so one works, and the other takes the lock again meanwhile.
func threads(r history.Reentry) [][2]string {
	if r == history.ByProcess {
		return [][2]string{{"t1", "t2"}}
	}
	return [][2]string{{"t1", "t1"}, {"t2", "t2"}}
}

// nested runs the reentrant loop in the threads of the client.
func nested(ctx context.Context, l *link, s Spec) error {
	c, begun, err := begin(ctx, l, s)
	if err != nil || !begun {
		return err
	}
	ctx, cancel := c.whileSound(ctx)
	defer cancel()
	ctx, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	for n, names := range threads(c.reentry) {
		t := thread{client: c, p: c.process(), name: names[0], again: names[1], random: rand.New(rand.NewPCG(s.Seed, uint64(s.Number*2+n+1000)))}
		all.Go(func() {
			for ctx.Err() == nil {
				t.round(context.WithoutCancel(ctx))
				sleep(ctx, about(t.random, s.Think))
			}
		})
	}
	for !c.told() && sleep(ctx, s.Lock.Lease/100) {
	}
	stop()
	all.Wait()
	return c.closeLock()
}

// thread is one thread of a client.
type thread struct {
	*client
	p      *process
	name   string
	again  string // the thread that takes the lock again
	random *rand.Rand
	writes int
}

// round takes the lock, takes it again up to two times, gives these back, and only
// then writes: it still holds.
func (t *thread) round(ctx context.Context) {
	key := t.spec.Keys[t.random.IntN(len(t.spec.Keys))]
	t.link.checkpoint(AtWaiting, key, "")
	g, err := t.p.acquireBy(ctx, key, t.name)
	if err != nil {
		return
	}
	t.inHand(g, true)
	defer t.inHand(g, false)
	stop := t.renew(ctx, g)
	t.link.checkpoint(AtAcquired, key, g.Owner)
	read, cancel := context.WithTimeout(ctx, t.callLimit())
	seen, err := t.p.read(read, g)
	cancel()
	if err == nil && t.nest(ctx, g, t.random.IntN(3)) {
		t.work(ctx, about(t.random, t.spec.Work))
		t.link.checkpoint(AtBeforeWrite, key, g.Owner)
		if why := t.doubt(g); why != "" {
			t.note(history.Op{F: history.Abstain, Process: t.p.id, Key: g.Key, Owner: g.Owner, Error: why})
		} else {
			t.writes++
			write, cancel := context.WithTimeout(ctx, t.callLimit())
			_ = t.p.write(write, g, valueOf(t.author()+"/"+t.name, t.writes), seen)
			cancel()
		}
	}
	stop()
	t.link.checkpoint(AtReleasing, key, g.Owner)
	_ = t.back(ctx, g) // the history has its answer
}

// nest takes the lock again, and gives it back again; false: that went wrong, so
// what is held is not known.
func (t *thread) nest(ctx context.Context, g *locks.Grant, times int) bool {
	if times == 0 {
		return true
	}
	again, err := t.p.acquireBy(ctx, g.Key, t.again)
	if err != nil {
		return false
	}
	if again.Owner != g.Owner { // a grant of its own: not the same hold
		t.inHand(again, true)
		defer t.inHand(again, false)
	}
	inner := t.nest(ctx, g, times-1)
	sleep(ctx, about(t.random, t.spec.Work/4))
	return t.back(ctx, again) == nil && inner
}

func (t *thread) back(ctx context.Context, g *locks.Grant) error {
	ctx, cancel := context.WithTimeout(ctx, t.releaseLimit())
	defer cancel()
	return t.p.releaseBy(ctx, g)
}
