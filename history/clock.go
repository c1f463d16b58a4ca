package history

import (
	"time"

	"golang.org/x/sys/unix"
)

// Stamp is one instant, by three clocks, in nanoseconds.
type Stamp struct {
	Raw  int64 // CLOCK_MONOTONIC by a system call: the judge's time, out of reach of clock faults
	Mono int64 // MONOTONIC as this program reads it
	Real int64 // REALTIME as this program reads it
}

var (
	start    = time.Now()
	startRaw = Raw()
)

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

// Now reads all three clocks, the raw one first.
func Now() Stamp {
	raw := Raw()
	own := time.Now()
	return Stamp{Raw: raw, Mono: startRaw + int64(own.Sub(start)), Real: own.UnixNano()}
}

// Mono reads this program's own MONOTONIC, as Deadline uses it.
func Mono() int64 { return startRaw + int64(time.Since(start)) }
