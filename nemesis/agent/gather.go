package agent

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	gatherTime = time.Millisecond
	gatherMost = 16 * time.Millisecond
	gatherSize = 256 << 10 // bytes; many pipes of the most that is allowed would use up what one user may have
	gatherFull = 16 << 10  // a quarter of the least that a pipe holds
)

// gatherer reads a pipe at most once in gatherTime, and ever more seldom what comes without an end, as long as it is little.
// A reader that waits is woken by each line, which takes more of the time of a worker that is being measured than the line
// does; with many workers it is most of what the machine does.
//
// A pipe that Go polls wakes it at each write, though nobody reads. A read that blocks has the runtime look after its thread
// every 20 µs for 10 ms. So what Go polls is a bell that is set anew for each wait.
type gatherer struct {
	pipe  *os.File
	fd    int      // of pipe; it does not block
	bell  *os.File // an epoll with the pipe alone
	rings syscall.RawConn
	hurry func() bool // a checkpoint is armed: whoever stands there waits until that is read
	now   chan bool   // ends a pause
	last  time.Time   // of a read
	pause time.Duration
}

// gather makes a pipe that has room for what comes until it is read. w blocks.
func gather(hurry func() bool) (g *gatherer, w *os.File, err error) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return nil, nil, os.NewSyscallError("pipe2", err)
	}
	_, _ = unix.FcntlInt(uintptr(ends[0]), unix.F_SETPIPE_SZ, gatherSize) // else it stays as it is
	g = &gatherer{now: make(chan bool, 1), pause: gatherTime, pipe: os.NewFile(uintptr(ends[0]), "what the child prints"), fd: ends[0], hurry: hurry}
	w = os.NewFile(uintptr(ends[1]), "the child's standard output")
	if err = g.hang(); err != nil {
		return nil, nil, errors.Join(err, g.Close(), w.Close())
	}
	return g, w, nil
}

// hang makes the bell.
func (g *gatherer) hang() error {
	bell, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return os.NewSyscallError("epoll_create1", err)
	}
	err = errors.Join(unix.SetNonblock(g.fd, true), unix.SetNonblock(bell, true)) // Go polls what does not block
	g.bell = os.NewFile(uintptr(bell), "bell")
	if err == nil {
		err = os.NewSyscallError("epoll_ctl", unix.EpollCtl(bell, unix.EPOLL_CTL_ADD, g.fd, &unix.EpollEvent{Fd: int32(g.fd)}))
	}
	if err == nil {
		g.rings, err = g.bell.SyscallConn()
	}
	return err
}

// Read implements io.Reader.
func (g *gatherer) Read(b []byte) (int, error) {
	if left := time.Until(g.last.Add(g.pause)); left > 0 && !g.hurry() {
		select {
		case <-time.After(left):
		case <-g.now:
		}
	}
	for {
		n, err := unix.Read(g.fd, b)
		switch {
		case err == unix.EAGAIN:
			err = g.wait()
		case err == unix.EINTR:
			continue
		case n == 0 && err == nil:
			return 0, io.EOF
		default:
			g.came(n, time.Now())
			return max(n, 0), err
		}
		if err != nil {
			return 0, err
		}
	}
}

// came sets the pause behind a read of n bytes.
func (g *gatherer) came(n int, now time.Time) {
	switch since := now.Sub(g.last); {
	case n > gatherFull:
		g.pause = max(g.pause/2, gatherTime)
	case since < 2*gatherMost:
		g.pause = min(g.pause*2, gatherMost)
	default:
		g.pause = gatherTime
	}
	g.last = now
}

// atOnce has what was printed read now.
func (g *gatherer) atOnce() {
	select {
	case g.now <- true:
	default: // somebody else has asked
	}
}

// wait returns once the pipe can be read, or its writers have ended.
func (g *gatherer) wait() error {
	var failed error
	var rung [1]unix.EpollEvent
	ended := g.rings.Read(func(bell uintptr) bool {
		failed = unix.EpollCtl(int(bell), unix.EPOLL_CTL_MOD, g.fd, &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLONESHOT, Fd: int32(g.fd)})
		if failed != nil {
			return true
		}
		n, err := unix.EpollWait(int(bell), rung[:], 0)
		if err != unix.EINTR {
			failed = err
		}
		return n > 0 || failed != nil
	})
	return errors.Join(ended, failed)
}

// Close closes the reading end.
func (g *gatherer) Close() error {
	err := g.pipe.Close()
	if g.bell != nil {
		err = errors.Join(err, g.bell.Close())
	}
	return err
}
