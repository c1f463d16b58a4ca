package adapter

import (
	"syscall"
	"time"
	"unsafe"
)

// Monotonic is CLOCK_MONOTONIC in nanoseconds, as this process reads it.
func Monotonic() int64 { return At(time.Now()) }

// At is an instant of this process by CLOCK_MONOTONIC, such as the one until which a
// library says that it holds.
func At(t time.Time) int64 { return base + int64(t.Sub(start)) }

var start, base = pair()

// pair reads both clocks as close together as it can: a busy machine may stop this
// process between the two.
func pair() (start time.Time, base int64) {
	best := int64(1 << 62)
	for i := 0; i < 5; i++ {
		from := read()
		now := time.Now()
		if gap := read() - from; gap < best {
			best, start, base = gap, now, from
		}
	}
	return start, base
}

// read asks the kernel, as package time does not show this clock's own value.
func read() int64 {
	const clockMonotonic = 1
	var ts syscall.Timespec
	if _, _, e := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&ts)), 0); e != 0 {
		panic("adapter: clock_gettime: " + e.Error()) // cannot fail on Linux
	}
	return ts.Nano()
}
