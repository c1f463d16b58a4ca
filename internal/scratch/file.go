package scratch

import (
	"os"
	"syscall"
)

// File makes a file in a folder that the next File there removes, if this process dies
// before it gives the file another name, or removes it. It must stay open until then.
func File(dir, begins string) (*os.File, error) {
	SweepIn(dir, begins)
	for {
		f, err := os.CreateTemp(dir, begins+"*")
		if err != nil || flock(f, syscall.LOCK_EX) != nil { // where there are no locks nobody sweeps
			return f, err
		}
		is, err := f.Stat()
		now, errNow := os.Lstat(f.Name())
		if err == nil && errNow == nil && os.SameFile(is, now) {
			return f, nil
		}
		_ = f.Close() // a sweep came in between
	}
}
