package outside

import (
	"runtime"
	"time"
	_ "unsafe" // for go:linkname

	"golang.org/x/sys/unix"
)

// nanotime is MONOTONIC as every Go program reads it: by the vDSO.
//
//go:linkname nanotime runtime.nanotime
func nanotime() int64

// closest is within how many ns the true clock must be read before and after a reading: a process that was
// preempted between the two says nothing.
const closest = 200_000

// reading tells how far both clocks of this process are from the truth.
func reading(who string) (Record, bool) {
	before := raw(unix.CLOCK_REALTIME)
	told := time.Now().UnixNano()
	between, early := raw(unix.CLOCK_REALTIME), raw(unix.CLOCK_MONOTONIC)
	mono := nanotime()
	late := raw(unix.CLOCK_MONOTONIC)
	if between-before > closest || late-early > closest {
		return Record{}, false
	}
	return Record{Who: who, What: Clock, At: late, From: early, N: told - (before+between)/2, M: mono - (early+late)/2}, true
}

// readClocks tells for ever what the clocks of this process and thread say.
func readClocks(who string) {
	runtime.LockOSThread()
	for {
		if r, ok := reading(who); ok {
			r.print()
		}
		time.Sleep(10 * time.Millisecond)
	}
}
