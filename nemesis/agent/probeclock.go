package agent

import (
	"fmt"
	"os"
	"os/exec"
	"time"
)

// probed reads the clocks of a program of ours that is started on this node just as
// the child was: for a child that cannot be asked for its time. That the child itself
// reads through the same page, the kernel's count says. It returns whether REALTIME is
// off by step there, and exactly what the page says.
func (c *clock) probed(step time.Duration) (string, bool) {
	self, err := os.Executable()
	if err != nil {
		return err.Error(), false
	}
	orders, err := sealing(Child{User: c.child.spec.User})
	if err != nil {
		return err.Error(), false
	}
	orders.Keep = nil // nor what an image's entrypoint would need
	cmd := exec.Command(self, "clock")
	r, err := c.agent.page.Probe(cmd, func(begin func() error) error {
		return start(cmd, func() error { return orders.Start(cmd, begin) })
	})
	defer disown(cmd)
	if err != nil {
		return err.Error(), false
	}
	_, off := r.Offsets()
	attached, err := c.agent.page.Attached()
	processes := len(c.child.processes())
	return fmt.Sprintf("another program on its page reads %+.3f s, as %d of its %d processes do", off.Seconds(), attached, processes),
		err == nil && processes > 0 && attached >= processes && (off-step).Abs() < clockSlack
}
