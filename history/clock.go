package history

import (
	"math"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Stamp is one instant, by three clocks, in nanoseconds.
type Stamp struct {
	Raw  int64 // CLOCK_MONOTONIC by a system call: the judge's time, out of reach of clock faults
	Mono int64 // MONOTONIC as this program reads it
	Real int64 // REALTIME as this program reads it
}

var startRaw, start = closest(Raw, time.Now)

// Raw reads CLOCK_MONOTONIC by a system call, never through the vDSO, so that a
// rewritten vDSO cannot bend it. All nodes of a run share one kernel and so one
// such clock.
func Raw() int64 {
	var ts unix.Timespec
	// Raw also in Go's sense, as it never blocks: the scheduler need not be told.
	if _, _, err := unix.RawSyscall(unix.SYS_CLOCK_GETTIME, unix.CLOCK_MONOTONIC, uintptr(unsafe.Pointer(&ts)), 0); err != 0 {
		panic("history: clock_gettime(CLOCK_MONOTONIC): " + err.Error()) // cannot fail on Linux
	}
	return ts.Nano()
}

// A program can be preempted between two readings, and then they are not of one
// instant. So the raw clock is read between two readings of the own one, and again until
// these are less than closeEnough apart, at most closeTries times. The own ones are the
// cheap ones. One that is bent only errs on how close they are, by the rate it runs at.
const (
	closeEnough = 50_000 // ns
	closeTries  = 5
)

// Now reads all three clocks, the raw one first. The own readings are at most a
// little later than Raw, never earlier.
func Now() Stamp {
	raw, own := closest(Raw, time.Now)
	return Stamp{Raw: raw, Mono: startRaw + int64(own.Sub(start)), Real: own.UnixNano()}
}

// closest reads own before and after raw, and returns the pair with the least time
// between them: raw, and own after it.
func closest(raw func() int64, own func() time.Time) (bestRaw int64, bestOwn time.Time) {
	shortest := time.Duration(math.MaxInt64)
	for range closeTries {
		before, between, after := own(), raw(), own()
		if length := after.Sub(before); length < shortest {
			shortest, bestRaw, bestOwn = length, between, after
		}
		if shortest < closeEnough {
			break
		}
	}
	return bestRaw, bestOwn
}

// Mono reads this program's own MONOTONIC, as Deadline uses it.
func Mono() int64 { return startRaw + int64(time.Since(start)) }

// MonoAt is what Mono was, or will be, at a time that has a monotonic reading, as those
// of time.Now and sums with it have. A time without one counts by REALTIME.
func MonoAt(t time.Time) int64 { return startRaw + int64(t.Sub(start)) }
