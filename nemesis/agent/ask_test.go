package agent

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/nemesis/agent/links"
)

// asked arms a client that is one of several, and returns what it asks at its checkpoint.
func asked(t *testing.T, limit time.Duration) (*remote, *Hit) {
	t.Helper()
	r := startAgent(t)
	r.do(Command{Do: Start, Child: worker()})
	r.do(Command{Do: ArmCheckpoint, Arm: &Arm{Fault: 1, Checkpoint: "before-write", Kind: "stall-worker", Max: 100 * time.Millisecond, Asks: true, Limit: limit}})
	return r, r.until(func(m Message) bool { return m.Asks != nil }).Asks
}

// without waits a while and wants no message of that kind.
func (r *remote) without(what string, match func(Message) bool) {
	r.t.Helper()
	time.Sleep(50 * time.Millisecond)
	r.do(Command{Do: Disarm, Fault: 99}) // what was told before it is here now
	for _, m := range r.seen {
		if match(m) {
			r.t.Errorf("%s: %+v", what, m)
		}
	}
}

func (m Message) tells(text string) bool { return strings.Contains(string(m.Op), text) }

func TestAskedAndStruck(t *testing.T) {
	r, asks := asked(t, 0)
	if asks.Fault != 1 || asks.Owner != "o1" || asks.Key != "k" || asks.At == 0 {
		t.Errorf("asked %+v", asks)
	}
	r.without("before the answer", func(m Message) bool { return m.tells(`"fault"`) || m.tells(`"write"`) || m.Hit != nil })
	if m := r.do(Command{Do: Strike, Fault: 1}); m.Error != "" {
		t.Fatal(m.Error)
	}
	hit := r.until(func(m Message) bool { return m.Hit != nil }).Hit
	begin := r.fault(1, history.Begin)
	if hit.Owner != "o1" || hit.At < asks.At || begin.Time < asks.At {
		t.Errorf("asked %+v, hit %+v, begun %d", asks, hit, begin.Time)
	}
	r.fault(1, history.Heal)
	r.write("o1")
	r.write("o2") // disarmed
	if m := r.do(Command{Do: Strike, Fault: 1}); !strings.Contains(m.Error, "nobody stands") {
		t.Errorf("struck twice: %+v", m)
	}
}

func TestAskedAndCalledOff(t *testing.T) {
	r, _ := asked(t, 0)
	r.do(Command{Do: Disarm, Fault: 1})
	r.do(Command{Do: Cancel, Fault: 1})
	if note := r.write("o1"); note.F != history.Held || note.Length <= 0 || note.Value != "before-write" || note.Error == "" {
		t.Errorf("that it stood there is not in the history: %+v", note)
	}
	r.write("o2")
	r.without("called off", func(m Message) bool { return m.tells(`"fault"`) || m.Hit != nil })
	if m := r.do(Command{Do: Strike, Fault: 1}); !strings.Contains(m.Error, "nobody stands") {
		t.Errorf("struck all the same: %+v", m)
	}
}

// A runner that does not answer keeps nobody at a checkpoint.
func TestAskedAndNotAnswered(t *testing.T) {
	r, _ := asked(t, 50*time.Millisecond)
	r.write("o1")
	r.write("o2")
	r.without("never answered", func(m Message) bool { return m.tells(`"fault"`) || m.Hit != nil })
}

// A runner that takes longer than the lease bears disturbs the run: the history shows it
// as a stall, as the judge knows no other reason for a client that came too late.
func TestAskedAndAnsweredLate(t *testing.T) {
	for _, answer := range []Do{Strike, Disarm} {
		for _, limit := range []time.Duration{time.Nanosecond, time.Minute} {
			r := startAgent(t)
			spec := worker()
			spec.Stall = limit
			r.do(Command{Do: Start, Child: spec})
			r.do(Command{Do: ArmCheckpoint, Arm: &Arm{Fault: 1, Checkpoint: "before-write", Kind: "stall-worker", Max: 10 * time.Millisecond, Asks: true}})
			r.until(func(m Message) bool { return m.Asks != nil })
			r.do(Command{Do: answer, Fault: 1})
			r.write("o1")
			r.do(Command{Do: Disarm, Fault: 99}) // what was told before it is here now
			late := slices.ContainsFunc(r.seen, func(m Message) bool { return m.tells("took so long to say") && m.tells(`"stall"`) })
			if late != (limit == time.Nanosecond) {
				t.Errorf("%s, of longer than %v: a stall %v", answer, limit, late)
			}
		}
	}
}

// One that has died at its checkpoint cannot be struck, and the runner is told so.
func TestAskedAndDied(t *testing.T) {
	r, _ := asked(t, 0)
	r.do(Command{Do: Kill})
	if m := r.do(Command{Do: Strike, Fault: 1}); !strings.Contains(m.Error, "has ended") {
		t.Errorf("struck: %+v", m)
	}
	r.without("nobody is hit", func(m Message) bool { return m.Hit != nil || m.tells(`"begin"`) })
}

// Two faults are armed at one checkpoint: who is not hit by the first stands there for the second.
func TestAskedForTwo(t *testing.T) {
	r, _ := asked(t, 0)
	r.do(Command{Do: ArmCheckpoint, Arm: &Arm{Fault: 2, Checkpoint: "before-write", Kind: "stall-worker", Max: 100 * time.Millisecond, Asks: true}})
	r.do(Command{Do: Disarm, Fault: 1})
	asks := r.until(func(m Message) bool { return m.Asks != nil && m.Asks.Fault == 2 }).Asks
	if asks.Owner != "o1" {
		t.Errorf("asked %+v", asks)
	}
	r.do(Command{Do: Strike, Fault: 2})
	r.until(func(m Message) bool { return m.Hit != nil && m.Hit.Fault == 2 })
	r.fault(2, history.Heal)
	r.write("o1")
	r.write("o2")
}

// The message stands on its link until it is known whom it strikes.
func TestMessageAsks(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer Do // "": none
		limit  time.Duration
		struck bool
	}{{"struck", Strike, time.Minute, true}, {"called off", Disarm, time.Minute, false}, {"cancelled", Cancel, time.Minute, false}, {"not answered", "", 100 * time.Millisecond, false}} {
		t.Run(c.name, func(t *testing.T) {
			r, s, _ := linked(t)
			how := LinkFault{To: []string{"s"}, When: links.When{Name: "SET"}}
			r.do(Command{Do: Inject, Arm: &Arm{Fault: 1, Kind: "hold-request", Asks: true, Max: time.Minute, Limit: c.limit, Params: Params{Link: &how}}})
			asks := r.until(func(m Message) bool { return m.Asks != nil }).Asks
			if c.answer != "" {
				sets := s.count()
				r.without("before the answer", func(m Message) bool { return m.tells(`"fault"`) || m.Hit != nil })
				if s.count() > sets {
					t.Error("the message passed before the answer")
				}
				if m := r.do(Command{Do: c.answer, Fault: 1}); m.Error != "" {
					t.Fatal(m.Error)
				}
			}
			if !c.struck {
				r.next(history.OK)
				r.next(history.OK)
				r.without("called off", func(m Message) bool { return m.tells(`"begin"`) || m.Hit != nil })
				if !slices.ContainsFunc(r.seen, func(m Message) bool { return m.tells(`"f":"held"`) && m.tells("on the link was held") }) {
					t.Error("that its message stood on its link is not in the history")
				}
				return
			}
			if hit := r.until(func(m Message) bool { return m.Hit != nil }).Hit; hit.At < asks.At {
				t.Errorf("asked %+v, hit %+v", asks, hit)
			}
			r.do(Command{Do: Heal, Fault: 1})
			r.proven("s: hold-request")
		})
	}
}
