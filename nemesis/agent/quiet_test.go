package agent

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The first thread that the process started has more slack, and its main thread keeps its time.
func TestQuieten(t *testing.T) {
	if err := quieten(os.Getpid()); err != nil {
		if os.Geteuid() == 0 {
			t.Fatal(err)
		}
		t.Skip(err) // the kernel wants CAP_SYS_NICE
	}
	tasks, err := os.Open("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	defer tasks.Close()
	names, err := tasks.Readdirnames(2)
	if err != nil || len(names) < 2 {
		t.Fatal(names, err)
	}
	for i, name := range names {
		text, err := os.ReadFile("/proc/" + name + "/timerslack_ns")
		if err != nil {
			t.Fatal(err)
		}
		if more := strings.TrimSpace(string(text)) == fmt.Sprint(sysmonSlack.Nanoseconds()); more != (i == 1) {
			t.Errorf("thread %d of the process has a slack of %s ns", i+1, text)
		}
	}
}
