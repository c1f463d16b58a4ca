package cli

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/procfs"
)

// A test of a real cluster waits for most of its time. Three go on beside each other on any machine, more where the processors have time: one
// that is slow, or does other work, would make of each more a fault of the others.
const (
	alwaysBeside = 3
	sight        = time.Second // for which the processors are looked at before one more begins
	crowded      = 0.85        // the share of their time in it that may be taken
)

var lookingFor sync.Mutex // held by the test that looks
var goingOn atomic.Int32

// beside lets a test go on beside others, as soon as there is room for it. One whose subtests go on so is not counted itself.
func beside(t *testing.T) {
	t.Helper()
	t.Parallel()
	lookingFor.Lock()
	defer lookingFor.Unlock()
	for goingOn.Load() >= alwaysBeside && noTime(t) {
	}
	goingOn.Add(1)
	t.Cleanup(func() { goingOn.Add(-1) })
}

// noTime looks whether the processors have time for one more test.
func noTime(t *testing.T) bool {
	t.Helper()
	taken, whole := processors(t)
	time.Sleep(sight)
	by, until := processors(t)
	return by-taken > crowded*(until-whole)
}

// processors is what work of ordinary priority, the kernel and the hypervisor took of their time since the machine's start, and all of that
// (proc_stat(5)). Work of low priority gives way, so what it takes is there for others.
func processors(t *testing.T) (taken, whole float64) {
	t.Helper()
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		t.Fatal(err)
	}
	stat, err := fs.Stat()
	if err != nil {
		t.Fatal(err)
	}
	cpu := stat.CPUTotal
	taken = cpu.User + cpu.System + cpu.IRQ + cpu.SoftIRQ + cpu.Steal
	return taken, taken + cpu.Nice + cpu.Idle + cpu.Iowait
}
