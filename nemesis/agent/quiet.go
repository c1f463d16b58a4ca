package agent

import (
	"fmt"
	"os"
	"time"
)

// sysmonSlack is how late a look of a Go runtime after its goroutines may be.
const sysmonSlack = time.Millisecond

// quieten makes a process of dlmtest's own cheap while it waits for a processor. As long as one of its goroutines is to
// run, a thread of the Go runtime (sysmon) looks each 20 µs whether that has blocked. With many clients on few
// processors all of them wait most of the time, and these looks were three quarters of all switches of threads, and half of the
// processor time. It is the first thread that a Go program starts. A thread that it starts itself has the slack, too, so a timer of
// the process may be late by that. Where the kernel refuses, it goes on as it was.
func quieten(pid int) error {
	tasks, err := os.Open(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return err
	}
	defer tasks.Close()
	names, err := tasks.Readdirnames(2) // in the order of their starts
	if err != nil || len(names) < 2 {
		return fmt.Errorf("the threads of process %d: %q, %w", pid, names, err)
	}
	return os.WriteFile("/proc/"+names[1]+"/timerslack_ns", fmt.Append(nil, sysmonSlack.Nanoseconds()), 0)
}
