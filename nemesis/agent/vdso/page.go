package vdso

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The page: a table of lines by clock id, a sequence number, the stubs.
const (
	tableAt   = 0
	entrySize = 64
	clocks    = 16 // ids 0 to 15; the stubs pass on all others untouched
	seqAt     = clocks * entrySize
	codeAt    = 2048
	pageSize  = 4096

	// Words of a table entry; sourceWord is the clock that is really read.
	baseWord, offsetWord, driftWord, slewWord, spanWord, sourceWord = 0, 1, 2, 3, 4, 5
)

// Page is one memory page that is shared with every program whose clocks it bends:
// parameters that this process alone can write, and the machine code that applies
// them. Its programs, their forks and those of another user follow a Set at once.
//
// It is System V shared memory and not a memfd, since that attaches by number: a
// program needs no inherited descriptor, keeps none, and a later exec, which may have
// closed every descriptor, attaches again. It is marked for removal as soon as it is
// made, so that it ends with its last process, however that ends.
type Page struct {
	id   int
	mem  []byte
	code code

	mu   sync.Mutex
	bend Bend
	boot Line
}

// NewPage returns a page with no skew. One page serves a whole node, over restarts
// of its program.
func NewPage() (*Page, error) {
	if native == nil {
		return nil, fmt.Errorf("clock: rewriting the vDSO is not written for %s", runtime.GOARCH)
	}
	// 0755: the program may run as anybody, and may read and execute but not write. As the
	// user that this process is it could write, until forbidWriting.
	id, err := unix.SysvShmGet(unix.IPC_PRIVATE, pageSize, unix.IPC_CREAT|0o755)
	if err != nil {
		return nil, fmt.Errorf("clock: make a shared page (shmget): %w", err)
	}
	mem, err := unix.SysvShmAttach(id, 0, 0)
	if err == nil {
		err = forbidWriting(id)
	}
	// Linux still attaches to what is marked for removal, while somebody has it.
	if _, rmErr := unix.SysvShmCtl(id, unix.IPC_RMID, nil); err == nil {
		err = rmErr
	}
	if err != nil {
		return nil, fmt.Errorf("clock: attach the shared page (shmat, shmctl): %w", err)
	}
	p := &Page{id: id, mem: mem}
	if p.code, err = native.assemble(); err != nil {
		return nil, err
	}
	// Before anybody attaches: on arm64 the kernel then cleans the caches itself.
	copy(mem[codeAt:], p.code.bytes)
	for id := range clocks {
		*p.word(id, sourceWord) = int64(source(id))
	}
	return p, nil
}

// forbidWriting takes from a segment's owner too what it takes to attach it for writing: in
// the runtime local all programs of a node have one user id, and in a container a server may
// be root. Who owns a segment could give it back to himself, but by a call that no sealed
// program has, see seal. What is attached stays as it is.
func forbidWriting(id int) error {
	var d unix.SysvShmDesc
	if _, err := unix.SysvShmCtl(id, unix.IPC_STAT, &d); err != nil {
		return err
	}
	d.Perm.Mode = 0o555
	_, err := unix.SysvShmCtl(id, unix.IPC_SET, &d)
	return err
}

// source returns the clock to read for id. A coarse clock is a tick behind its fine
// one; were it bent by the same line, a Set could send it back by a part of that.
func source(id int) int {
	switch id {
	case unix.CLOCK_REALTIME_COARSE:
		return unix.CLOCK_REALTIME
	case unix.CLOCK_MONOTONIC_COARSE:
		return unix.CLOCK_MONOTONIC
	}
	return id
}

// Set puts s in force for every program of the page, in place of the former skew,
// and returns it as it is. MONOTONIC goes on from where it is.
func (p *Page) Set(s Skew) (Bend, error) {
	if err := s.check(); err != nil {
		return Bend{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mem == nil {
		return Bend{}, errors.New("clock: the page is closed")
	}
	// From the odd number to the even one readers spin, so that none of them uses the
	// former lines for a time after the change: that is what keeps MONOTONIC from
	// going back. Between the two nothing may wait, hence the raw system calls.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	seq := (*uint32)(unsafe.Pointer(&p.mem[seqAt]))
	atomic.AddUint32(seq, 1)
	mono, boot, real := read(unix.CLOCK_MONOTONIC), read(unix.CLOCK_BOOTTIME), read(unix.CLOCK_REALTIME)
	off := int64(s.Step)
	if s.Relative {
		off += p.bend.Realtime.At(real) - real
	}
	next := Bend{
		Skew: s, At: mono,
		Monotonic: from(mono, p.bend.Monotonic.At(mono)-mono, s.Drift),
		Realtime:  from(real, off, s.Drift).slewed(s.Slew, s.slewRate()),
	}
	err := inRange(next.Realtime)
	if err == nil {
		p.bend, p.boot = next, from(boot, p.boot.At(boot)-boot, s.Drift)
		p.store()
	}
	atomic.AddUint32(seq, 1)
	return p.bend, err
}

// inRange refuses a REALTIME before 1970 or near the end of 64 bits, for the stubs
// divide without a sign.
func inRange(l Line) error {
	end := l.At(l.Base) + scale(l.Span, l.Slew)
	if at := l.At(l.Base); at < 0 || end < 0 || at > 1<<62+1<<61 || end > 1<<62+1<<61 {
		return fmt.Errorf("clock: REALTIME would leave the years 1970 to 2189")
	}
	return nil
}

// store writes the lines to the table. Every store is atomic, and so ordered after
// the sequence number on arm64 too.
func (p *Page) store() {
	for id, l := range map[int]Line{
		unix.CLOCK_REALTIME: p.bend.Realtime, unix.CLOCK_REALTIME_COARSE: p.bend.Realtime,
		unix.CLOCK_MONOTONIC: p.bend.Monotonic, unix.CLOCK_MONOTONIC_COARSE: p.bend.Monotonic,
		unix.CLOCK_BOOTTIME: p.boot,
	} {
		atomic.StoreInt64(p.word(id, baseWord), l.Base)
		atomic.StoreInt64(p.word(id, offsetWord), l.Offset)
		atomic.StoreInt64(p.word(id, driftWord), l.Drift)
		atomic.StoreInt64(p.word(id, slewWord), l.Slew)
		atomic.StoreInt64(p.word(id, spanWord), l.Span)
	}
}

func (p *Page) word(clock, word int) *int64 {
	return (*int64)(unsafe.Pointer(&p.mem[tableAt+clock*entrySize+word*8]))
}

// Bend returns what is in force.
func (p *Page) Bend() Bend {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bend
}

// Attached returns how many processes read the page now, by the kernel's own count.
// It needs no permission over them. Fewer than the node has: one of them has executed
// a program that nobody traced, and sees the true time.
func (p *Page) Attached() (int, error) {
	var d unix.SysvShmDesc
	if _, err := unix.SysvShmCtl(p.id, unix.IPC_STAT, &d); err != nil {
		return 0, fmt.Errorf("clock: the shared page (shmctl): %w", err)
	}
	return int(d.Nattch) - 1, nil // but this one
}

// Close lets go of the page. Programs that still use it keep the last skew.
func (p *Page) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mem == nil {
		return nil
	}
	mem := p.mem
	p.mem = nil
	return unix.SysvShmDetach(mem)
}

// read reads a clock by a system call that the Go scheduler does not see: after an
// ordinary one the thread may have to wait for the end of a garbage collection.
func read(clock int) int64 {
	var ts unix.Timespec
	if _, _, errno := unix.RawSyscall(unix.SYS_CLOCK_GETTIME, uintptr(clock), uintptr(unsafe.Pointer(&ts)), 0); errno != 0 {
		panic("clock: clock_gettime: " + errno.Error()) // cannot fail on Linux
	}
	return ts.Nano()
}
