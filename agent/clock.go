package agent

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dlmtest/dlmtest/agent/vdso"
)

// clock bends the child's clocks by the page that it reads them through.
type clock struct {
	agent *agent
	child *child
	skew  vdso.Skew
	since time.Time
}

func injectClock(a *agent, s *active) (fault, error) {
	if a.page == nil || s.arm.Skew == nil {
		return nil, errors.New("clock: the node's child was not started with clocks that can be bent")
	}
	if !s.arm.Lie {
		if _, err := a.page.Set(*s.arm.Skew); err != nil {
			return nil, err
		}
	}
	return &clock{a, a.child, *s.arm.Skew, time.Now()}, nil
}

// prove: every process of the child reads its clocks through the page, the page is
// off by what was asked for, and where the child tells its own time, so is that.
func (c *clock) prove() (string, bool) {
	processes := len(descendants(c.child.cmd.Process.Pid))
	attached, err := c.agent.page.Attached()
	if err != nil {
		return err.Error(), false
	}
	asked, want := c.asked(), c.offset()
	text := fmt.Sprintf("%d of %d processes read their clocks through the page, by which REALTIME is off by %.3f s", attached, processes, want.Seconds())
	seen := attached >= processes && processes > 0 && (want-asked).Abs() < clockSlack
	if len(c.child.spec.Tells) > 0 {
		got, err := c.told()
		if err != nil {
			return fmt.Sprintf("%s; its own time is not to be had: %v", text, err), false
		}
		text += fmt.Sprintf("; the program itself says %.3f s", got.Seconds())
		seen = seen && (got-want).Abs() < clockSlack
	}
	return text, seen
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
	ask := c.child.spec
	ask.Argv = ask.Tells
	text, err := output(ask)
	now := read(unix.CLOCK_REALTIME)
	if err != nil {
		return 0, fmt.Errorf("%w: %s", err, text)
	}
	seconds, err := strconv.ParseFloat(strings.Fields(text + " ?")[0], 64)
	if err != nil {
		return 0, err
	}
	return time.Duration(seconds*1e9) - time.Duration(now), nil
}

// heal lets REALTIME step back to the truth; MONOTONIC keeps what it has gained.
func (c *clock) heal() (string, error) {
	_, err := c.agent.page.Set(vdso.Skew{})
	return "", err
}
