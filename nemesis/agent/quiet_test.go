package agent

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// One thread of the process alone has more slack, and it is none that runs goroutines: those keep their time.
func TestQuieten(t *testing.T) {
	if err := quieten(os.Getpid()); err != nil {
		if os.Geteuid() == 0 {
			t.Fatal(err)
		}
		t.Skip(err) // the kernel wants CAP_SYS_NICE
	}
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	slack := 0
	for _, task := range tasks {
		text, err := os.ReadFile("/proc/" + task.Name() + "/timerslack_ns")
		if err == nil && strings.TrimSpace(string(text)) == fmt.Sprint(sysmonSlack.Nanoseconds()) {
			slack++
		}
	}
	if slack != 1 {
		t.Errorf("%d of %d threads have the slack, want 1", slack, len(tasks))
	}
}
