package agent

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dlmtest/dlmtest/history"
)

// fault is one kind of fault at work on this node. prove is called before heal
// and says what the victim itself shows; false: it was not seen there.
type fault interface {
	prove() (string, bool)
	heal() (string, error) // with what is seen after it, if anything
}

// kinds is the table of faults, beside those of links (onLink). Each injects and returns what heals. An error may
// come with a fault that is half done and must be healed all the same. With Lie it
// leaves out what it does to the victim, and nothing else: its proof must then fail.
// a.mu is held.
var kinds = map[string]func(a *agent, s *active) (fault, error){
	"pause":        injectPause,
	"stall-worker": injectStall,
	"kill":         injectKill,
	"partition":    injectPartition,
	"clock":        injectClock,
	"crash":        injectCrash,
	"disk-stall":   injectDiskStall,
	Hold:           func(*agent, *active) (fault, error) { return nil, nil },
}

func kindOf(arm Arm) (func(*agent, *active) (fault, error), error) {
	if onLink[arm.Kind] != nil {
		return injectLink, nil
	}
	kind, ok := kinds[arm.Kind]
	if !ok {
		return nil, fmt.Errorf("unknown fault %q", arm.Kind)
	}
	return kind, nil
}

// looker looks after the heal at what the victim shows then. It may take its time:
// neither the node's checkpoints nor another fault wait for it.
type looker interface{ look() string }

// active is a fault or a hold in force.
type active struct {
	arm        Arm
	run        int           // agent.runs as it began
	fault      fault         // nil: a hold
	checkpoint *AtCheckpoint // nil: not at a checkpoint
	since      int64         // raw ns
	begun      time.Time
	backup     *time.Timer   // ends it at Max, whatever becomes of the runner
	waits      bool          // for its message: it has not begun
	done       chan struct{} // closed when it is over and recorded
}

// inject begins a fault now.
func (a *agent) inject(arm Arm) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.child == nil {
		return errors.New("inject: the node's child has not been started")
	}
	return a.begin(arm, nil)
}

// begin carries out arm. a.mu is held.
func (a *agent) begin(arm Arm, at *AtCheckpoint) error {
	inject, err := kindOf(arm)
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(a.held, func(h *active) bool { return h.arm.clashes(arm) }); i >= 0 {
		return refusal(fmt.Sprintf("%s: the node suffers a %s from fault %d already", arm.Kind, a.held[i].arm.Kind, a.held[i].arm.Fault))
	}
	s := &active{arm: arm, run: a.runs, checkpoint: at, waits: arm.waits(), done: make(chan struct{})}
	a.held = append(a.held, s)
	if s.waits {
		s.backup = time.AfterFunc(arm.Limit, func() { a.giveUp(s) })
	} else {
		a.run(s, history.Raw())
	}
	s.fault, err = inject(a, s)
	if !s.waits {
		a.last(s) // from when it was in force
	}
	if err != nil {
		a.tell(s, history.Missed, 0, err.Error())
		if s.fault == nil && !s.waits && arm.Kind != Hold { // it has begun in the history, and nothing will heal it
			a.tell(s, history.Heal, history.Raw(), "it never was in force")
		}
	}
	if at != nil && (arm.Lie || arm.Link != nil) {
		// A fault that holds the work at its checkpoint does not, or it is the link that is
		// faulty and not the client.
		_ = a.orderLocked(Order{Go: at.ID})
	}
	return err
}

// run tells that a fault begins. a.mu is held.
func (a *agent) run(s *active, at int64) {
	s.since, s.waits = at, false
	if s.arm.Kind != Hold {
		a.tell(s, history.Begin, at, "")
	}
}

// last begins the time of a fault. a.mu is held, as it is by who ends it.
func (a *agent) last(s *active) {
	s.begun = time.Now()
	if s.backup != nil {
		s.backup.Stop()
	}
	if s.arm.Max > 0 {
		s.backup = time.AfterFunc(max(s.arm.Max-proves(s.fault), 0), func() { a.finish(s) })
	}
}

// proves says how long the proof of a fault takes, before which it does not end.
func proves(f fault) time.Duration {
	if p, ok := f.(interface{ proves() time.Duration }); ok {
		return p.proves()
	}
	return 0
}

// end ends a fault or a hold, at its Min or at once, and returns when that is recorded.
func (a *agent) end(id int, atOnce bool) error {
	a.mu.Lock()
	i := slices.IndexFunc(a.held, func(h *active) bool { return h.arm.Fault == id })
	if i < 0 {
		i = slices.IndexFunc(a.looked, func(h *active) bool { return h.arm.Fault == id })
		if i < 0 {
			a.mu.Unlock()
			return nil // it has ended by itself
		}
		s := a.looked[i]
		a.mu.Unlock()
		<-s.done
		return nil
	}
	s := a.held[i]
	a.mu.Unlock()
	if left := s.arm.Min - proves(s.fault) - time.Since(s.begun); left > 0 && !atOnce {
		time.AfterFunc(left, func() { a.finish(s) })
		return nil
	}
	a.finish(s)
	<-s.done
	return nil
}

// finish proves, heals and lets the worker go on. It does nothing the second time.
func (a *agent) finish(s *active) {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.Index(a.held, s)
	if i < 0 {
		return
	}
	a.held = slices.Delete(a.held, i, i+1)
	if s.backup != nil {
		s.backup.Stop()
	}
	switch {
	case s.waits && s.fault != nil:
		_, _ = s.fault.heal() // it was not meant: there is nothing to prove or to tell
	case s.fault != nil:
		a.heal(s)
		return
	case s.checkpoint != nil && s.arm.Link == nil:
		a.note(history.Op{F: history.Held, Key: s.checkpoint.Key, Owner: s.checkpoint.Owner, Value: s.checkpoint.Checkpoint, Length: history.Raw() - s.since})
	}
	a.over(s, "")
}

// over lets the worker go on and says that all is over. a.mu is held.
func (a *agent) over(s *active, failed string) {
	at := history.Raw()
	if s.checkpoint != nil {
		_ = a.orderLocked(Order{Go: s.checkpoint.ID}) // a dead worker needs no order
	}
	a.out.send(Message{Over: &Over{Fault: s.arm.Fault, At: at, Error: failed}})
	close(s.done)
}

// heal takes the proof, heals and records both. a.mu is held.
func (a *agent) heal(s *active) {
	proof, seen := s.fault.prove()
	phase := history.Observed
	if !seen {
		phase = history.Missed
		if idle, ok := s.fault.(interface{ idle() bool }); ok && s.arm.Optional && idle.idle() {
			phase = history.Skipped // the victim gave it nothing to do
		}
	}
	at := history.Raw() // before the heal: what the child does next comes after it
	if e, ok := s.fault.(interface{ over() int64 }); ok {
		at = e.over() // its proof has healed it
	}
	a.tell(s, phase, at-1, proof)
	after, err := s.fault.heal()
	if err != nil {
		a.tell(s, history.Failed, 0, err.Error())
		a.over(s, err.Error())
		return
	}
	l, ok := s.fault.(looker)
	if !ok {
		a.tell(s, history.Heal, at, after)
		a.over(s, "")
		return
	}
	a.looked = append(a.looked, s)
	go func() {
		text := l.look()
		a.mu.Lock()
		defer a.mu.Unlock()
		a.looked = slices.DeleteFunc(a.looked, func(h *active) bool { return h == s })
		a.tell(s, history.Heal, at, text)
		a.over(s, "")
	}()
}

// tell records one phase of a fault on this node.
func (a *agent) tell(s *active, phase history.Phase, at int64, proof string) {
	note := &history.FaultNote{ID: s.arm.Fault, Kind: s.arm.Kind, Target: a.name, Phase: phase, Proof: proof, Cut: s.arm.Cut}
	note.Whole = history.FaultOf(s.arm.Kind).Message && s.arm.Link != nil && s.arm.Link.When.Now()
	if l, ok := s.fault.(interface{ lasted() int64 }); ok && phase == history.Observed {
		note.Lasted = l.lasted()
	}
	if k, ok := s.fault.(*kill); ok && phase == history.Heal {
		note.Back = k.back()
	}
	a.note(history.Op{Time: at, F: history.Fault, Length: s.arm.slow(), Fault: note})
}

// tellLate is tell of what is seen when a fault is over: it is nothing to another run on the same node, whose faults have
// the same numbers.
func (a *agent) tellLate(s *active, phase history.Phase, proof string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s.run == a.runs {
		a.tell(s, phase, 0, proof)
	}
}

// slow is by how much a round trip takes longer under a latency, at most; 0: it is none.
// With it the judge knows whether who is slow was still in reach.
func (a Arm) slow() int64 {
	if a.Kind != "latency" || a.Link == nil {
		return 0
	}
	return int64(a.Link.RTT + a.Link.Jitter)
}

// ErrRefused says that an agent did not begin a fault, since its node suffers
// another that is in the way. Nothing was done.
var ErrRefused = errors.New("refused")

// refusal is an ErrRefused with its reason.
type refusal string

func (r refusal) Error() string        { return string(r) }
func (r refusal) Is(target error) bool { return target == ErrRefused }

// Clash says whether two faults cannot be on one node together: the same kind
// twice, but for cuts, which compose. One that is optional, as those of a random
// schedule are, also gives way where one of the two would spoil the other's proof: a kill during a pause leaves nothing that could be seen
// stopped, and a stopped program cannot tell its time. Cuts are seen in the network alone. A
// scenario that writes both knows what it does.
func Clash(a, b string, optional bool) bool {
	return a == b && a != "partition" || optional && history.FaultOf(a).Proof && history.FaultOf(b).Proof
}
