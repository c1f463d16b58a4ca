package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/nemesis"
	"github.com/dlmtest/dlmtest/nemesis/agent"
	"github.com/dlmtest/dlmtest/workloads"
)

// load runs clients and nemesis side by side until the scenario's time is over
// and every fault is healed. A cancel of ctx ends it early, healed as well.
func (s *stage) load(ctx context.Context, say Progress) error {
	say.Phase("Clients and nemesis at work")
	s.tellSchedule(say)
	playing, stop := context.WithCancel(ctx)
	defer stop()
	played := make(chan error, 1)
	armed := make(chan int, 100)
	go func() {
		played <- nemesis.Play(playing, s.nemesisStage(func(id int) {
			select {
			case armed <- id:
			default: // only the first ones are waited for
			}
		}), s.faults)
	}()
	s.awaitArmed(ctx, armed)
	for _, c := range s.clients {
		if err := c.tell(ctx, workloads.Told{Begin: true}); err != nil {
			stop()
			if played := <-played; ctx.Err() != nil {
				return played // interrupted: what there is is judged
			}
			return s.explain(err)
		}
	}
	err := s.watch(ctx, say, played)
	stop()
	s.stopClients()
	return err
}

// awaitArmed waits until the faults that are due at once are armed, so that the
// very first holder meets them.
func (s *stage) awaitArmed(ctx context.Context, armed <-chan int) {
	limit := time.After(2 * time.Second)
	for _, f := range s.faults {
		if !f.AtOnce() {
			continue
		}
		select {
		case <-armed:
		case <-limit:
			return // then a later holder meets them
		case <-ctx.Done():
			return
		}
	}
}

func (s *stage) nemesisStage(armed func(int)) nemesis.Stage {
	return nemesis.Stage{Armed: armed, Lie: s.Lie, Clients: victims(s.clients), Servers: victims(s.servers),
		Linked: s.linkedServers(), Resource: s.resource, Feed: s.rec.feed,
		Seed: s.Seed, Patience: s.patience(), Holds: s.holds, Back: s.back, Leader: s.leader, Note: s.rec.note, Limit: s.planned() + 8*s.lease}
}

// patience is how long one fault of many waits for its trigger: the next round of a client passes it, and a round takes up to
// one and a half times its work.
func (s *stage) patience() time.Duration { return 2*s.lease + s.Scenario.Work.Of(s.lease)*3/2 }

// leader asks every server whether it leads.
func (s *stage) leader(ctx context.Context) (nemesis.Victim, error) {
	for _, n := range s.servers {
		if len(n.Spec.Leads) == 0 {
			return nil, fmt.Errorf("%s has no leader", s.Backend)
		}
		child := agent.Child{Argv: n.Spec.Leads, Env: n.Spec.Env, User: n.Spec.User}
		if n.Command(ctx, agent.Command{Do: agent.Run, Child: &child}) == nil {
			return n, nil
		}
	}
	return nil, fmt.Errorf("no server of %s says that it leads", s.Backend)
}

func victims(nodes []*node) []nemesis.Victim {
	var all []nemesis.Victim
	for _, n := range nodes {
		all = append(all, n)
	}
	return all
}

// planned is how long the load lasts when no fault takes longer.
func (s *stage) planned() time.Duration { return s.Scenario.Duration.Of(s.lease) }

// watch shows what happens until the load is over: the planned time has passed,
// the faults are healed, and the scenario's time after them has passed too.
func (s *stage) watch(ctx context.Context, say Progress, played <-chan error) error {
	begun := time.Now()
	end := begun.Add(s.planned())
	tick := time.NewTicker(liveEvery)
	defer tick.Stop()
	healed := false
	var far furthest
	early, late := s.decider(begun), s.lingering()
	var err error
	for {
		select {
		case err = <-played:
			healed, played = true, nil
			after := time.Now().Add(s.Scenario.After.Of(s.lease))
			if len(s.faults) > 0 && after.After(end) {
				end = after
			}
			early.healed(after)
		case <-tick.C:
			say.Live(s.rec.live(), far.at(time.Since(begun), end.Sub(begun), healed))
			if err := s.rec.blame(); err != nil {
				return err
			}
			if dead := s.deadNode(say); dead != nil {
				return dead
			}
			if healed && (time.Now().After(end) && !late.goesOn() || early.ends(say)) {
				return err
			}
		case <-ctx.Done():
			if played != nil {
				err = <-played // heals first
			}
			return err
		}
	}
}

// deadNode is an error when a child has ended that no fault had killed, or a whole node
// has gone.
func (s *stage) deadNode(say Progress) error {
	if err := s.endedServers(say); err != nil {
		return err
	}
	for _, n := range s.nodes() {
		exits := n.exits
		if slices.Contains(s.servers, n) {
			exits = nil
		}
		select {
		case e := <-exits:
			return s.ended(n, e)
		case <-n.gone:
			return n.how()
		default:
		}
	}
	return nil
}

// endedServers notes the servers that have ended by themselves: whom they do not serve any
// more is not to blame for it. One that ends after a fault has begun is what the fault has
// shown: the run goes on without it, as a real cluster would have to. Without a fault
// it is an error.
func (s *stage) endedServers(say Progress) error {
	for _, n := range s.servers {
		select {
		case e := <-n.exits:
			s.rec.note(history.Op{Time: e.Time, Node: n.Name(), F: history.ServerEnd, Error: e.Reason + lastLines(n.lastWords())})
			if s.rec.live().Faults == 0 {
				return s.ended(n, e)
			}
			s.lost++
			say.Line(fmt.Sprintf("%s has ended by itself (%s): the run goes on without it", n.Name(), e.Reason))
		default:
		}
	}
	return nil
}

func (s *stage) ended(n *node, e agent.Exit) error {
	return s.explain(n.lastSaid("its program has ended during the run: " + e.Reason))
}

// lastLines are the last words of a server, where they end with what it died of.
func lastLines(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return "; its last words: " + strings.Join(words, " | ")
}

// killLimit is how long a killed worker's end may take to be told.
const killLimit = 10 * time.Second

// stopClients lets every worker finish the round in hand; what has not ended after
// two leases is killed, and its pending operation stays unknown.
func (s *stage) stopClients() {
	ctx, cancel := context.WithTimeout(context.Background(), s.stopLimit())
	defer cancel()
	ended := make([]bool, len(s.clients))
	var all sync.WaitGroup
	for i, c := range s.clients {
		all.Go(func() { ended[i] = stopClient(ctx, c) })
	}
	all.Wait()
	if i := slices.Index(ended, true); i >= 0 {
		s.free = s.clients[i]
	}
}

// stopClient says whether the worker of a client has ended, by itself or killed.
func stopClient(ctx context.Context, c *node) bool {
	if err := c.tell(ctx, workloads.Told{Stop: true}); err != nil && ctx.Err() == nil {
		select {
		case <-c.gone:
			return false
		default:
			return true // it has ended already
		}
	}
	select {
	case <-c.exits:
		return true
	case <-c.gone:
		return false
	case <-ctx.Done():
	}
	kill, cancel := context.WithTimeout(context.Background(), killLimit)
	defer cancel()
	_ = c.Command(kill, agent.Command{Do: agent.Kill}) // its death is the aim
	select {
	case <-c.exits:
		return true
	case <-c.gone:
	case <-kill.Done(): // nobody passes on what is said, or a busy kernel ends nothing; down removes the node
	}
	return false
}

// finish acquires every key once with a new worker, on new connections.
func (s *stage) finish(ctx context.Context, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	c := s.free
	if c == nil {
		s.rec.doubt(fmt.Sprintf("the final acquire could not be made: no client's program has ended within %v of its kill", killLimit))
		return nil
	}
	spec := s.worker(len(s.clients), "final", workloads.Finally)
	if err := c.start(ctx, c.workerOf(&spec)); err != nil {
		return err
	}
	if err := c.tell(ctx, workloads.Told{Spec: &spec}); err != nil {
		return err
	}
	for {
		select {
		case w := <-c.said:
			if w.Fatal != "" {
				s.rec.doubt("the final acquire could not be made: " + w.Fatal)
			}
			if err := s.greeted(c, w.Hello); err != nil { // judged by what was said before
				s.rec.doubt("the final acquire was another lock's: " + err.Error())
			}
		case <-c.exits:
			return nil
		case <-c.gone:
			return c.how()
		case <-ctx.Done():
			s.rec.doubt("the final acquire did not end: " + context.Cause(ctx).Error())
			return nil
		}
	}
}

// stallLimit is the scheduling gap from which a run is disturbed.
func stallLimit(lease time.Duration) time.Duration { return lease / 8 }
