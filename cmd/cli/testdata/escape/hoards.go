package main

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// bombHoard is how much memory a bomb takes at most that is no process's own: more than a
// client's share.
const bombHoard = 3 << 29

// hoard takes memory that counts to no process: step takes a piece and says how big it is.
func hoard(step func(n int) (uint64, error)) (got, most uint64, err error) {
	for n := 0; got < bombHoard; n++ {
		if n%64 == 0 && available() < spareMemory {
			break
		}
		piece, err := step(n)
		if err != nil {
			return got, bombHoard, err
		}
		got += piece
	}
	return got, bombHoard, nil
}

const hoardPiece = 32 << 20

// detached fills shared memory and lets go of it, which leaves it there.
func detached(int) (uint64, error) {
	id, err := unix.SysvShmGet(unix.IPC_PRIVATE, hoardPiece, unix.IPC_CREAT|0o600)
	if err != nil {
		return 0, err
	}
	b, err := unix.SysvShmAttach(id, 0, 0)
	if err != nil {
		return 0, err
	}
	touch(b)
	return hoardPiece, unix.SysvShmDetach(b)
}

// shared fills memory that a child could share, and forgets that it has it. The memory stays.
func shared(fd, flags int) func(int) (uint64, error) {
	return func(int) (uint64, error) {
		b, err := unix.Mmap(fd, 0, hoardPiece, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|flags)
		if err != nil {
			return 0, err
		}
		touch(b)
		return hoardPiece, unix.Madvise(b, unix.MADV_DONTNEED)
	}
}

func touch(b []byte) {
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
}

// inode is about what the kernel keeps of an empty file.
const inode = 1 << 10

// inodes makes empty files until there is no place for one more, in all folders.
func inodes() func(n int) (uint64, error) {
	folders := []string{os.TempDir(), "/var/tmp", "/run", "/dev/shm"}
	return func(n int) (uint64, error) {
		path := filepath.Join(folders[0], fmt.Sprintf("escape-%d", n))
		fd, err := unix.Open(path, unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
		if err != nil && len(folders) > 1 {
			folders = folders[1:]
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
		return inode, unix.Close(fd)
	}
}

// buffers fills those of sockets that nobody reads.
func buffers() func(int) (uint64, error) {
	full := make([]byte, 64<<10)
	return func(int) (got uint64, err error) {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return 0, err
		}
		for _, fd := range pair {
			_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, 1<<30)
			for {
				n, err := unix.Write(fd, full)
				if n <= 0 || err != nil {
					break
				}
				got += uint64(n)
			}
		}
		return got, nil
	}
}

// zeros is shared memory by the device that gives it.
func zeros() (got, most uint64, err error) {
	fd, err := unix.Open("/dev/zero", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, bombHoard, err
	}
	defer unix.Close(fd)
	return hoard(shared(fd, 0))
}
