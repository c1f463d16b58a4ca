package vdso

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"
)

// shmReadExecute is SHM_RDONLY|SHM_EXEC: the program may not write its own clock.
const shmReadExecute = 0o10000 | 0o100000

// patch makes the program in tid, which stands at its exec and has not run yet, read
// its clocks by the page. Everything goes through ptrace and nothing through /proc,
// which without CAP_SYS_PTRACE is closed for programs of another user. held are the
// signals that arrived meanwhile.
func (p *Page) patch(tid int) (held []unix.Signal, err error) {
	im, err := ownImage()
	if err != nil {
		return nil, err
	}
	var r registers
	if err := r.read(tid); err != nil {
		return nil, fmt.Errorf("clock: registers of process %d: %w", tid, err)
	}
	base, err := findImage(tid, r.sp())
	if err != nil {
		return nil, err
	}
	if header, err := peek(tid, base, elfHeaderSize); err != nil || !bytes.Equal(header, im.header) {
		return nil, errors.Join(fmt.Errorf("clock: process %d has another vDSO than the agent: is it no 64-bit program?", tid), err)
	}
	at, held, err := p.attach(tid, base+im.entries["clock_gettime"].at, r)
	if err != nil {
		return held, err
	}
	for label, e := range im.entries {
		jump := native.jump(at + uint64(p.code.labels[label]))
		if err := poke(tid, base+e.at, jump); err != nil {
			return held, err
		}
		if now, err := peek(tid, base+e.at, len(jump)); err != nil || !bytes.Equal(now, jump) {
			return held, errors.Join(fmt.Errorf("clock: the vDSO of process %d does not keep what is written", tid), err)
		}
	}
	return held, nil
}

// findImage walks the program's first stack (argc, argv, environment, auxiliary
// vector) to the address of its vDSO.
func findImage(tid int, sp uint64) (uint64, error) {
	w := stack{tid: tid, at: sp}
	argc := w.next()
	w.at += 8 * (argc + 1) // argv and its null
	for w.err == nil && w.next() != 0 {
	} // the environment and its null
	for w.err == nil {
		key, value := w.next(), w.next()
		if key == atSysinfoEhdr {
			return value, w.err
		}
		if key == 0 {
			break
		}
	}
	return 0, errors.Join(fmt.Errorf("clock: process %d has no vDSO", tid), w.err)
}

// stack reads words of a stopped program upwards; after an error it reads zeros.
type stack struct {
	tid int
	at  uint64
	err error
}

func (s *stack) next() uint64 {
	b, err := peek(s.tid, s.at, 8)
	if err != nil {
		s.err = err
		return 0
	}
	s.at += 8
	return binary.NativeEndian.Uint64(b)
}

// attach runs, in the program, the one system call that maps the page, and returns
// where it is. The code for it stands in a function that is replaced afterwards.
func (p *Page) attach(tid int, scratch uint64, r registers) (at uint64, held []unix.Signal, err error) {
	code := native.attach(p.id)
	saved, err := peek(tid, scratch, len(code))
	if err != nil {
		return 0, nil, err
	}
	if err := poke(tid, scratch, code); err != nil {
		return 0, nil, err
	}
	start := r.pc()
	r.enter(scratch)
	if err := r.write(tid); err != nil {
		return 0, nil, fmt.Errorf("clock: registers of process %d: %w", tid, err)
	}
	now := r
	if held, err = runToTrap(tid, scratch+uint64(len(code)), &now); err != nil {
		return 0, held, err
	}
	r.enter(start)
	if err := errors.Join(r.write(tid), poke(tid, scratch, saved)); err != nil {
		return 0, held, fmt.Errorf("clock: process %d: %w", tid, err)
	}
	if v := now.result(); v < 0 && v > -4096 {
		return 0, held, fmt.Errorf("clock: process %d cannot attach the shared page (shmat): %w; has it another IPC "+
			"namespace than the agent?", tid, unix.Errno(-v))
	}
	return uint64(now.result()), held, nil
}

// runToTrap lets tid run until the trap that ends at end, and keeps the signals that
// come before it.
func runToTrap(tid int, end uint64, r *registers) (held []unix.Signal, err error) {
	for {
		if err := unix.PtraceCont(tid, 0); err != nil {
			return held, fmt.Errorf("clock: continue process %d: %w", tid, err)
		}
		status, err := waitStop(tid)
		if err != nil {
			return held, err
		}
		if err := r.read(tid); err != nil {
			return held, err
		}
		if status.StopSignal() == unix.SIGTRAP && r.pc() == end-native.trapBack {
			return held, nil
		}
		if fault := status.StopSignal(); fault == unix.SIGSEGV || fault == unix.SIGILL || fault == unix.SIGSYS {
			return held, fmt.Errorf("clock: process %d: %v in the code that attaches the page", tid, fault)
		}
		held = append(held, status.StopSignal())
	}
}

// errEnded is the error of a process that is no more, as of one that its parent has killed.
var errEnded = errors.New("it ended while its vDSO was rewritten")

// waitStop waits for tid to stop.
func waitStop(tid int) (unix.WaitStatus, error) {
	var status unix.WaitStatus
	for {
		_, err := unix.Wait4(tid, &status, unix.WALL, nil)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return 0, fmt.Errorf("clock: wait for process %d: %w", tid, err)
		case !status.Stopped():
			return status, fmt.Errorf("clock: process %d: %w", tid, errEnded)
		default:
			return status, nil
		}
	}
}

func peek(tid int, at uint64, n int) ([]byte, error) {
	b := make([]byte, n)
	if _, err := unix.PtracePeekData(tid, uintptr(at), b); err != nil {
		return nil, fmt.Errorf("clock: read process %d at %#x: %w", tid, at, err)
	}
	return b, nil
}

// poke writes where the program itself may not: the kernel gives it a page of its own.
func poke(tid int, at uint64, b []byte) error {
	if _, err := unix.PtracePokeData(tid, uintptr(at), slices.Clone(b)); err != nil {
		return fmt.Errorf("clock: write process %d at %#x: %w", tid, at, err)
	}
	return nil
}
