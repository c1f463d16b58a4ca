package lossy

import (
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A kernel tells a FUSE file system nothing of sync(2) and syncfs(2) (tried on 6.18). The filter of system calls
// that a sealed server is bound by does: it sends both here, and the caller goes on when its files are durable.
// See seccomp_unotify(2).

// notice is the kernel's struct seccomp_notif.
type notice struct {
	id       uint64
	pid      uint32 // the thread that calls, in this process's namespace
	_        uint32
	call     int32
	_        uint32
	_        uint64
	argument [6]uint64
}

// answer is the kernel's struct seccomp_notif_resp.
type answer struct {
	id    uint64
	_     int64
	errno int32 // negative
	flags uint32
}

// goesOn has the kernel carry the call out itself.
const goesOn = 1

// notices receives listeners by a socket, one of each program that is started on the mount, until it is closed.
func (p *process) notices(socket int) error {
	f := os.NewFile(uintptr(socket), "listeners")
	c, err := net.FilePacketConn(f)
	_ = f.Close() // c has its own
	if err != nil {
		return fmt.Errorf("lossy: --listeners: %w", err)
	}
	go func() {
		one, rights := make([]byte, 1), make([]byte, unix.CmsgSpace(4))
		for {
			_, n, _, _, err := c.(*net.UnixConn).ReadMsgUnix(one, rights)
			if err != nil {
				return
			}
			messages, err := unix.ParseSocketControlMessage(rights[:n])
			if err != nil || len(messages) == 0 {
				continue
			}
			fds, _ := unix.ParseUnixRights(&messages[0]) // none: there is nothing to listen to
			for _, fd := range fds {
				unix.CloseOnExec(fd)
				go p.listen(fd)
			}
		}
	}()
	return nil
}

// listen answers the calls of one program and all that come of it, until the last of them has ended.
func (p *process) listen(fd int) {
	var under sync.WaitGroup
	defer func() { under.Wait(); _ = unix.Close(fd) }()
	for {
		ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if _, err := unix.Poll(ready, -1); err != nil && err != unix.EINTR || ready[0].Revents&(unix.POLLHUP|unix.POLLERR) != 0 {
			return
		}
		if ready[0].Revents&unix.POLLIN == 0 {
			continue
		}
		var n notice
		if _, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&n))); e != 0 {
			continue // the caller has ended, or a signal took it away
		}
		under.Go(func() { // a call that a stall holds does not hold the others
			a := p.answer(n)
			_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&a))) // the caller may have ended
		})
	}
}

// answer does what a call asks for. What a program says of other file systems is the kernel's.
func (p *process) answer(n notice) answer {
	a := answer{id: n.id}
	fs := p.fs.Load()
	if n.call == unix.SYS_SYNCFS && !fs.has(int(n.pid), int(n.argument[0])) {
		a.flags = goesOn
		return a
	}
	call := "sync"
	if n.call == unix.SYS_SYNCFS {
		call = "syncfs"
	}
	a.errno = -int32(fs.synced(call, n.pid))
	return a
}

// has says whether a file of another process is of this mount. Where the kernel does not let us look it is taken to be:
// a server syncs its data.
func (f *FS) has(pid, fd int) bool {
	var own, its unix.Stat_t
	if err := unix.Stat(f.opts.Mount, &own); err != nil {
		return false // the mount has ended
	}
	err := unix.Stat(fmt.Sprintf("/proc/%d/fd/%d", pid, fd), &its)
	return err != nil || its.Dev == own.Dev
}

// synced makes everything durable for a caller of sync or syncfs. A stall holds it as it holds an fsync of any file.
func (f *FS) synced(call string, pid uint32) syscall.Errno {
	if f.vol.barrier.armed.Load() {
		if e := f.vol.barrier.wait(call, everything, false, pid, nil); e != 0 {
			return e
		}
	}
	if err := f.Sync(); err != nil {
		return unix.EIO
	}
	return 0
}
