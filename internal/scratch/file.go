package scratch

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"strconv"
	"syscall"
)

// File makes a file in a folder that the next File there removes, if this process dies
// before it gives the file another name, or removes it. It must stay open until then.
func File(in *os.Root, begins string) (f *os.File, name string, err error) {
	sweepAll(in, begins)
	for {
		name = begins + strconv.FormatUint(rand.Uint64(), 36)
		f, err = in.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil || flock(f, syscall.LOCK_EX) != nil { // where there are no locks nobody sweeps
			return f, name, err
		}
		is, err := f.Stat()
		now, errNow := in.Lstat(name)
		if err == nil && errNow == nil && os.SameFile(is, now) {
			return f, name, nil
		}
		_ = f.Close() // a sweep came in between
	}
}
