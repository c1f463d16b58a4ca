package faultcheck

import (
	"fmt"
	"strings"

	"github.com/dlmtest/dlmtest/runner/faultcheck/outside"
)

// Readings are bracketed by two of the true clock, at most 0.2 ms apart. What is bent is told to the nanosecond, so
// that a millisecond is far more than can be.
const exact = int64(1e6)

// second is the grain of time(2).
const second = int64(1e9)

// clock: what every program of the node reads during the fault, and after it. Programs are the measuring one and
// a thread, a child and a daemon of it, and a C program where one is there.
func (s *seen) clock(k *strike) (rows []Row) {
	from, to := k.window()
	all := s.of(k.target, outside.Clock)
	for _, group := range []struct {
		name string
		c    bool
	}{
		{"Go: main, thread, child, daemon", false},
		{"C: main, thread, fork, exec by clock_gettime, gettimeofday, time", true},
	} {
		if group.c && !s.c {
			continue // none was asked for
		}
		c := k.check(group.name+" read what is said, and the truth after the heal", k.proof)
		var some []outside.Record
		for _, r := range all {
			if strings.HasPrefix(r.Who, "c-") == group.c {
				some = append(some, r)
			}
		}
		in := between(some, from, to)
		switch {
		case len(some) == 0:
			c.unmeasured("no such program ran: %s", s.unable(k.target, "c"))
		case len(in) == 0:
			c.unmeasured("no reading was taken")
		}
		s.readings(k, c, some)
		if len(some) > 0 {
			c.measured("%d readings of %d programs, off by %s", len(in), len(who(in)), c.Measured)
		}
		rows = append(rows, c.Row)
	}
	return rows
}

// readings holds each reading beside what it must be. The two ends of a fault are left out: a reading takes a while.
func (s *seen) readings(k *strike, c *check, all []outside.Record) {
	from, to := k.window()
	if !k.fault.Clock.Strobe.IsZero() {
		from = k.begun // it stops for its proof, which takes a while
	}
	var offs, seenFar, seenNear []int64
	for _, r := range all {
		slack := exact
		if strings.HasSuffix(r.Who, "-time") {
			slack = second
		}
		switch at := r.At; {
		case r.At < k.begun || r.From > 0 && r.From < from && r.At > from, r.At > to && r.At < to+50e6:
		case at > from && at < to:
			want := k.offset(at, from)
			near := within(r.N, want[0]-slack, want[1]+slack)
			if !k.fault.Clock.Strobe.IsZero() {
				truth := within(r.N, -slack, slack)
				if truth {
					seenNear = append(seenNear, r.N)
				} else if near {
					seenFar = append(seenFar, r.N)
				}
				near = near || truth
			}
			c.unless(near, "%s read %s, want %s to %s", r.Who, ms(r.N), ms(want[0]), ms(want[1]))
			offs = append(offs, r.N)
		case at > to && s.undisturbed(k, at):
			c.unless(within(r.N, -slack, slack), "%s read %s after the heal", r.Who, ms(r.N))
		}
	}
	if !k.fault.Clock.Strobe.IsZero() && len(all) > 0 {
		c.unless(len(seenFar) > 0 && len(seenNear) > 0, "both ends were not seen")
	}
	c.measured("%s", spread(offs, ms))
}

func within(n, low, high int64) bool { return n >= low && n <= high }

// offset is between what REALTIME may be off at a time. A fault was in force at some moment from its begin on, so a
// clock that runs wrongly has gone so long at least, and at most.
func (k *strike) offset(at, from int64) [2]int64 {
	f := k.fault.Clock
	step := int64(f.Step.Of(0) + f.Strobe.Of(0))
	if f.Back {
		step = -step
	}
	rate := f.Drift
	if !f.Slew.IsZero() {
		rate = f.SlewRate
	}
	least, most := float64(at-from)*rate, float64(at-k.begun)*rate
	return [2]int64{step + int64(least), step + int64(most)}
}

// undisturbed says that no other fault bends the clock at a time.
func (s *seen) undisturbed(k *strike, at int64) bool {
	for _, other := range s.strikes {
		if other.target == k.target && at >= other.begun && at <= other.healed+50e6 {
			return false
		}
	}
	return true
}

// unable is why something could not be measured in a node.
func (s *seen) unable(node, name string) string {
	for _, r := range s.of(node, outside.Unable) {
		if r.Who == name {
			return r.Text
		}
	}
	return fmt.Sprintf("%s tells nothing of it", node)
}
