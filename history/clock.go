package history

import (
	"math"
	"time"

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
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic("history: clock_gettime(CLOCK_MONOTONIC): " + err.Error()) // cannot fail on Linux
	}
	return ts.Nano()
}

// A program can be preempted between two readings, and then they are not of one
// instant. So the own clock is read between two raw readings, and again until
// these are less than closeEnough apart, at most closeTries times.
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

// closest reads own after raw, and returns the pair with the least time in which
// own can have been read.
func closest(raw func() int64, own func() time.Time) (bestRaw int64, bestOwn time.Time) {
	shortest := int64(math.MaxInt64)
	for range closeTries {
		before, between := raw(), own()
		if length := raw() - before; length < shortest {
			shortest, bestRaw, bestOwn = length, before, between
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
