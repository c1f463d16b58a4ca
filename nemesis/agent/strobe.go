package agent

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dlmtest/dlmtest/nemesis/agent/vdso"
)

// strobe is a clock that jumps to and fro between the truth and a step: what two
// time servers that disagree, or a broken virtual machine, do to a program.
type strobe struct {
	*clock
	stop, stopped chan struct{}
	flips         int   // read once stopped
	failed        error // the last flip's
}

func newStrobe(c *clock, every time.Duration, lie bool) *strobe {
	s := &strobe{clock: c, stop: make(chan struct{}), stopped: make(chan struct{})}
	if lie {
		close(s.stopped)
		return s
	}
	go s.flip(every)
	return s
}

// flip starts from the step, which is in force.
func (s *strobe) flip(every time.Duration) {
	defer close(s.stopped)
	tick := time.NewTicker(every)
	defer tick.Stop()
	sides := [2]vdso.Skew{s.skew, {}}
	for {
		select {
		case <-s.stop:
			return
		case <-tick.C:
			s.flips++
			if _, err := s.agent.page.Set(sides[s.flips%2]); err != nil {
				s.failed = err
				return
			}
		}
	}
}

func (s *strobe) end() {
	select {
	case <-s.stop:
	default:
		close(s.stop)
	}
	<-s.stopped
}

// sidesTried is how often a side is read: a reading that takes longer than the step
// cannot tell the sides apart.
const sidesTried = 5

// prove stops the strobe and asks the child on both sides: there its REALTIME is off
// by the step, and here by nothing. A flip in the middle of an answer would make it
// say little, hence the stop; the time of an answer is measured around it.
func (s *strobe) prove() (string, bool) {
	s.end()
	text := fmt.Sprintf("REALTIME jumped %d times between the truth and %+.3f s", s.flips, s.skew.Step.Seconds())
	if s.failed != nil {
		return fmt.Sprintf("%s, then no more: %v", text, s.failed), false
	}
	seen := s.flips > 0
	for _, side := range []vdso.Skew{s.skew, {}} {
		if seen { // else nothing was done, and nothing is now
			if _, err := s.agent.page.Set(side); err != nil {
				return fmt.Sprintf("%s; %v", text, err), false
			}
		}
		said, ok := s.side(side.Step)
		text += "; " + said
		seen = seen && ok
	}
	return text, seen
}

// side reads the child's clock and says whether it is off by step, and not by what the
// other side would show.
func (s *strobe) side(step time.Duration) (text string, ok bool) {
	if len(s.child.spec.Tells) == 0 {
		return s.probed(step)
	}
	for range sidesTried {
		before := time.Duration(read(unix.CLOCK_REALTIME))
		told, err := s.tells()
		after := time.Duration(read(unix.CLOCK_REALTIME))
		if err != nil {
			return fmt.Sprintf("its own time cannot be read: %v", err), false
		}
		low, high := told-after, told-before // it was read in between
		text = fmt.Sprintf("the program says %+.3f to %+.3f s", low.Seconds(), high.Seconds())
		if high-low < s.skew.Step.Abs() {
			return text, low <= step+readSlack && step-readSlack <= high
		}
	}
	return text + ", which is too rough to tell", false
}

// readSlack is by how much a program may round its own time.
const readSlack = 2 * time.Millisecond

// heal stops the strobe and leaves the truth in force.
func (s *strobe) heal() (string, error) {
	s.end()
	return s.clock.heal()
}
