package agent

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const (
	gatherTime = time.Millisecond
	gatherSize = 256 << 10 // bytes; many pipes of the most that is allowed would use up what one user may have
)

// gatherer reads a pipe at most once in gatherTime. A reader that waits is woken by each
// line, which takes more of the time of a worker that is being measured than the line does.
type gatherer struct {
	*os.File
	hurry func() bool // a checkpoint is armed: whoever stands there waits until that is read
	next  time.Time
}

// quietPipe has room for what comes until it is read, and a reading end that Go does not
// poll: what it polls wakes at each write, though nobody reads.
func quietPipe() (r, w *os.File, err error) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return nil, nil, os.NewSyscallError("pipe2", err)
	}
	_, _ = unix.FcntlInt(uintptr(ends[0]), unix.F_SETPIPE_SZ, gatherSize) // else it stays as it is
	return os.NewFile(uintptr(ends[0]), "what the child prints"), os.NewFile(uintptr(ends[1]), "the child's standard output"), nil
}

// Read implements io.Reader.
func (g *gatherer) Read(b []byte) (int, error) {
	if !g.hurry() {
		time.Sleep(time.Until(g.next))
	}
	n, err := g.File.Read(b)
	g.next = time.Now().Add(gatherTime)
	return n, err
}
