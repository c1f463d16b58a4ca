package agent

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dlmtest/dlmtest/nemesis/agent/seal"
)

// watchDisk ends a child that fills the machine's disk.
func (a *agent) watchDisk() {
	for range time.Tick(diskEvery) {
		a.mu.Lock()
		c := a.child
		a.mu.Unlock()
		used := written("/tmp", "/run", "/var")
		if c != nil {
			used += removed(c.processes(), "/var")
		}
		if used > seal.NodeDisk {
			a.overdrawn(fmt.Sprintf("wrote more than %d MB of files", int64(seal.NodeDisk)>>20))
		}
	}
}

// leastFile is what a file counts at least: a disk has an end of them, too.
const leastFile = 4096

// removed is what files take that have no name any more, on the file system of a folder: as long as
// a process has them open they are there.
func removed(pids []int, folder string) (bytes int64) {
	var top, is unix.Statx_t
	if unix.Statx(unix.AT_FDCWD, folder, unix.AT_STATX_DONT_SYNC, unix.STATX_BASIC_STATS, &top) != nil {
		return 0
	}
	seen := map[uint64]bool{}
	for _, pid := range pids {
		dir := fmt.Sprintf("/proc/%d/fd/", pid)
		open, _ := os.ReadDir(dir) // it has ended
		for _, f := range open {
			// What the kernel knows: a file system that hangs is not asked.
			err := unix.Statx(unix.AT_FDCWD, dir+f.Name(), unix.AT_STATX_DONT_SYNC, unix.STATX_BASIC_STATS, &is)
			if err == nil && is.Nlink == 0 && !seen[is.Ino] && is.Dev_major == top.Dev_major && is.Dev_minor == top.Dev_minor {
				seen[is.Ino] = true
				bytes += max(leastFile, int64(is.Blocks)*512)
			}
		}
	}
	return bytes
}

// written is how much of the disk, or of memory that stands in for it, the node's own files
// take. What is mounted below is another file system's, with limits of its own.
func written(folders ...string) (bytes int64) {
	for _, folder := range folders {
		var top syscall.Stat_t
		if syscall.Lstat(folder, &top) != nil {
			continue
		}
		_ = filepath.WalkDir(folder, func(_ string, e fs.DirEntry, err error) error {
			if err != nil {
				return nil // removed just now
			}
			info, err := e.Info()
			if err != nil {
				return nil // the same
			}
			s := info.Sys().(*syscall.Stat_t)
			if s.Dev != top.Dev {
				return fs.SkipDir
			}
			bytes += max(leastFile, s.Blocks*512)
			return nil
		})
	}
	return bytes
}
