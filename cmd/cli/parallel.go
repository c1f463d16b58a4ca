package cli

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dlmtest/dlmtest/clusters"
	"github.com/dlmtest/dlmtest/locks"
)

// What a run takes at most, roughly: several servers, clients and their agents.
const (
	runsPerCore  = 8
	memoryPerRun = 128 << 20
)

// mostParallel is how many runs at a time this machine can be asked for, and what says so.
func mostParallel() (most int, why string) {
	most, why = runsPerCore*runtime.NumCPU(), fmt.Sprintf("%d for each of %d processors", runsPerCore, runtime.NumCPU())
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return most, why
	}
	memory := info.Totalram * uint64(info.Unit)
	if runs := int(min(memory/memoryPerRun, math.MaxInt32)); runs < most {
		most, why = runs, fmt.Sprintf("one for each %d MB of %d MB of memory", memoryPerRun>>20, memory>>20)
	}
	return max(most, 1), why
}

// parallelWithin checks how many runs at a time are asked for.
func parallelWithin(n int) error {
	if err := atLeastOne("parallel", n); err != nil {
		return err
	}
	if most, why := mostParallel(); n > most {
		return usageError{fmt.Errorf("--parallel %d: this machine takes at most %d runs at a time, %s; beyond that they "+
			"disturb each other and prove nothing", n, most, why)}
	}
	return nil
}

// matrixParallel is how many runs of a matrix go on at a time where nobody says. A local run waits for most of its
// time; in Docker a start takes all of the machine. See the measurements in docs/performance.md.
func matrixParallel(where string) int {
	most, _ := mostParallel()
	if where == "local" {
		return min(most, 2*runtime.NumCPU())
	}
	return min(most, runtime.NumCPU())
}

// chooseParallel settles how many runs of a matrix go on at a time. A shard runs one at a time unless told
// otherwise: the split into shards depends on that number, and must not differ from machine to machine.
func (f *runFlags) chooseParallel(given bool) {
	switch {
	case given:
	case f.shard != "":
		f.parallel = 1
	default:
		f.parallel, f.bears = matrixParallel(f.Runtime), true
	}
}

// huntParallel is how many runs at a time a hunt makes where nobody says: a trial waits for most of its time, one with
// long leases for nearly all of it, and one with several containers for less. See the measurements in docs/hunt.md.
func huntParallel(ctx context.Context, backend, where string) int {
	lock, perCore := locks.Table[backend], 3
	p, err := clusters.Load(ctx, clusters.Compose, lock.Profile)
	switch several := err != nil || len(p.Nodes) > 1; {
	case several && where != "local":
		perCore = 2
	case several && lock.CheckLease != nil && lock.CheckLease(time.Second/2) != nil: // whole seconds only
		perCore = 4
	}
	most, _ := mostParallel()
	return min(most, perCore*runtime.NumCPU())
}
