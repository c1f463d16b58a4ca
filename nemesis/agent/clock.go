package agent

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dlmtest/dlmtest/nemesis/agent/vdso"
)

// clock bends the child's clocks by the page that it reads them through.
type clock struct {
	agent *agent
	child *child
	skew  vdso.Skew
	since time.Time
	watch *readings
}

func injectClock(a *agent, s *active) (fault, error) {
	if a.page == nil || s.arm.Skew == nil {
		return nil, errors.New("clock: the node's child was not started with clocks that can be bent")
	}
	if s.arm.Skew.Drift != 0 && !s.arm.Anyway {
		if err := a.child.survivesDrift(); err != nil {
			return nil, err
		}
	}
	watch := a.watchClock()
	if !s.arm.Lie {
		if _, err := a.page.Set(*s.arm.Skew); err != nil {
			watch.end()
			return nil, err
		}
	}
	watch.read()
	c := &clock{a, a.child, *s.arm.Skew, time.Now(), watch}
	if s.arm.Strobe > 0 {
		return newStrobe(c, s.arm.Strobe, s.arm.Lie), nil
	}
	return c, nil
}

// prove: every process of the child reads its clocks through the page, the page is
// off by what was asked for, and so is the time that the child tells; where it tells
// none, or not now, as a database that is starting up, that of another program on the page.
func (c *clock) prove() (string, bool) {
	processes := len(c.child.processes())
	attached, err := c.agent.page.Attached()
	if err != nil {
		return err.Error(), false
	}
	asked, want := c.asked(), c.offset()
	text := fmt.Sprintf("%d of %d processes read their clocks through the page, by which REALTIME is off by %.3f s", attached, processes, want.Seconds())
	seen := attached >= processes && processes > 0 && (want-asked).Abs() < clockSlack
	if len(c.child.spec.Tells) == 0 {
		said, ok := c.probed(want)
		return text + "; " + said, seen && ok
	}
	got, err := c.told()
	if err != nil {
		said, ok := c.probed(want)
		return fmt.Sprintf("%s; its own time cannot be read: %v; %s", text, err, said), seen && ok
	}
	return text + fmt.Sprintf("; the program itself says %.3f s", got.Seconds()), seen && (got-want).Abs() < clockSlack
}

// clockSlack is how far readings may differ that are taken one after the other,
// the second by a process that is started for it.
const clockSlack = 500 * time.Millisecond

// asked is how far REALTIME should be off by now.
func (c *clock) asked() time.Duration {
	gone := time.Since(c.since)
	rate := c.skew.SlewRate
	if rate == 0 {
		rate = vdso.NTPRate
	}
	slewed := min(time.Duration(float64(gone)*rate), c.skew.Slew.Abs())
	if c.skew.Slew < 0 {
		slewed = -slewed
	}
	return c.skew.Step + time.Duration(float64(gone)*c.skew.Drift) + slewed
}

// offset is how far REALTIME is off by the page, now.
func (c *clock) offset() time.Duration {
	now := read(unix.CLOCK_REALTIME)
	return time.Duration(c.agent.page.Bend().Realtime.At(now) - now)
}

// told is how far REALTIME is off by what the child itself says.
func (c *clock) told() (time.Duration, error) {
	told, err := c.tells()
	return told - time.Duration(read(unix.CLOCK_REALTIME)), err
}

// tells is REALTIME as the child itself says it, since the epoch.
func (c *clock) tells() (time.Duration, error) {
	ask := c.child.spec
	ask.Argv = ask.Tells
	text, err := output(ask)
	if err != nil {
		return 0, fmt.Errorf("%w: %s", err, text)
	}
	seconds, err := strconv.ParseFloat(strings.Fields(text + " ?")[0], 64)
	return time.Duration(seconds * 1e9), err
}

// heal lets REALTIME step back to the truth; MONOTONIC keeps what it has gained.
func (c *clock) heal() (string, error) {
	c.watch.end()
	_, err := c.agent.page.Set(vdso.Skew{})
	c.watch.read()
	return "", err
}
