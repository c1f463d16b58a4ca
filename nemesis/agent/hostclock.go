package agent

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/dlmtest/dlmtest/history"
)

// hostClockLimit is how far REALTIME may move against MONOTONIC_RAW between two
// samples a second apart. Slewing by NTP (at most 0.5 ms a second) stays below it.
const hostClockLimit = 5 * time.Millisecond

// watchHostClock notes when the host's REALTIME is set under a run: it would look
// like a clock fault. It reads by system calls, out of reach of our own faults.
func watchHostClock(note func(history.Op)) {
	last := hostOffset()
	for range time.Tick(time.Second) {
		now := hostOffset()
		if moved := time.Duration(now - last); moved.Abs() > hostClockLimit {
			note(history.Op{F: history.HostClock, Length: int64(moved), Error: "the host's REALTIME was set"})
		}
		last = now
	}
}

// hostOffset is REALTIME − MONOTONIC_RAW in ns. Of three readings the one with the
// shortest bracket counts, so that being descheduled between two calls is no jump.
func hostOffset() int64 {
	best, offset := int64(1<<62), int64(0)
	for range 3 {
		before := read(unix.CLOCK_MONOTONIC_RAW)
		real := read(unix.CLOCK_REALTIME)
		after := read(unix.CLOCK_MONOTONIC_RAW)
		if after-before < best {
			best, offset = after-before, real-(before+after)/2
		}
	}
	return offset
}

func read(clock int32) int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(clock, &ts); err != nil {
		panic("agent: clock_gettime: " + err.Error()) // cannot fail on Linux
	}
	return ts.Nano()
}
