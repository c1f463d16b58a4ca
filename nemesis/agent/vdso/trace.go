package vdso

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// tracer follows the programs that a Process executes. All of it runs on the one
// thread that started the process: the kernel lets no other use ptrace on it.
type tracer struct {
	p        *Process
	root     int
	tracees  map[int]tracee // by thread id
	settling bool
}

// tracee is one traced thread.
type tracee struct {
	fresh bool // the SIGSTOP with which a new tracee begins has not been seen
	asked bool // it was sent a SIGSTOP, to detach it
}

// options: each thread and process that comes of the program is traced from its begin,
// for any thread may exec (Go's os/exec and syscall.Exec run on whichever), and none
// outlives the tracer in a stop that nobody would end.
const options = unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK |
	unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_EXITKILL

// rescan is a safety net: each stop and exit also sends a SIGCHLD.
const rescan = 100 * time.Millisecond

// follow returns when nothing is traced any more. It waits for each tracee by its id:
// to wait for any child would steal the exits of the agent's other programs.
func (t *tracer) follow(events <-chan os.Signal) {
	tick := time.NewTicker(rescan)
	defer tick.Stop()
	quit := t.p.quit
	for {
		for t.scan() {
		}
		if len(t.tracees) == 0 {
			return
		}
		select {
		case <-events:
		case <-tick.C:
			t.adopt()
		case <-quit:
			quit = nil
			t.settle()
		}
	}
}

// adopt finds threads that nobody told of: the one that made them was killed before its
// event could be read, as when a program ends right after its start. The kernel keeps
// back the end of a process until its tracer has taken note of every thread's.
func (t *tracer) adopt() {
	self := fmt.Sprintf("\nTracerPid:\t%d\n", unix.Gettid())
	for tid := range maps.Clone(t.tracees) {
		dir := fmt.Sprintf("/proc/%d/task", tid)
		threads, err := os.ReadDir(dir)
		if err != nil {
			continue // it has ended
		}
		for _, e := range threads {
			id, _ := strconv.Atoi(e.Name()) // the kernel wrote it
			if _, known := t.tracees[id]; known {
				continue
			}
			if status, err := os.ReadFile(filepath.Join(dir, e.Name(), "status")); err == nil && strings.Contains(string(status), self) {
				t.tracees[id] = tracee{fresh: true}
			}
		}
	}
}

// settle asks every tracee for a stop, as only a stopped one can be detached. It ends
// in signalled, when they have stopped.
func (t *tracer) settle() {
	t.settling = true
	for tid, state := range t.tracees {
		if state.fresh || state.asked {
			continue // its stop comes by itself
		}
		state.asked = true
		t.tracees[tid] = state
		_ = tkill(tid, unix.SIGSTOP) // it has ended: the next scan sees that
	}
}

// scan handles what each tracee has to say now, and reports whether any had.
func (t *tracer) scan() (news bool) {
	for tid := range t.tracees {
		news = t.look(tid) || news
	}
	return news
}

func (t *tracer) look(tid int) bool {
	var info unix.Siginfo
	// Only a look: the exit of the root is left for exec.Cmd.Wait.
	err := unix.Waitid(unix.P_PID, tid, &info, unix.WEXITED|unix.WSTOPPED|unix.WNOHANG|unix.WNOWAIT|unix.WALL, nil)
	if err == unix.ECHILD { // another thread has executed a program, which ends this one
		delete(t.tracees, tid)
		return false
	}
	if err != nil || info.Signo == 0 {
		return false
	}
	if stopped := info.Code == cldTrapped || info.Code == cldStopped; !stopped && tid == t.root {
		delete(t.tracees, tid)
		t.p.freed()
		t.settle()
		return true
	}
	var status unix.WaitStatus
	if n, err := unix.Wait4(tid, &status, unix.WALL|unix.WNOHANG, nil); err != nil || n != tid {
		return false
	}
	if !status.Stopped() {
		delete(t.tracees, tid)
		return true
	}
	t.stopped(tid, status)
	return true
}

// Codes of a siginfo that tell a stop from an end.
const cldTrapped, cldStopped = 4, 5

func (t *tracer) stopped(tid int, status unix.WaitStatus) {
	switch status.TrapCause() {
	case unix.PTRACE_EVENT_FORK, unix.PTRACE_EVENT_VFORK, unix.PTRACE_EVENT_CLONE:
		if id, err := unix.PtraceGetEventMsg(tid); err == nil {
			if _, known := t.tracees[int(id)]; !known {
				t.tracees[int(id)] = tracee{fresh: true}
			}
		}
		t.resume(tid, 0)
	case unix.PTRACE_EVENT_EXEC:
		t.rewrite(tid)
		if t.p.enough() {
			t.detach(tid, 0)
			return
		}
		t.resume(tid, 0)
	default:
		t.signalled(tid, status.StopSignal())
	}
}

// rewrite bends the clock of the program that tid has just executed. One that cannot
// be bent runs on with the true time, and Settle says so. One that was killed meanwhile reads
// no clock any more; a stopped tracee is not there (ESRCH) for no other reason.
func (t *tracer) rewrite(tid int) {
	held, err := t.p.page.patch(tid)
	if tid != t.root && (errors.Is(err, errEnded) || errors.Is(err, unix.ESRCH)) {
		return
	}
	t.p.executed(err)
	for _, s := range held {
		_ = tkill(tid, s) // once more, now that its own code runs
	}
}

func (t *tracer) signalled(tid int, sig unix.Signal) {
	state := t.tracees[tid]
	switch sig {
	case unix.SIGSTOP, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU:
	default:
		t.resume(tid, sig)
		return
	}
	ours, group := origin(tid)
	switch {
	case sig == unix.SIGSTOP && !group && (state.fresh || state.asked && ours):
		if t.settling {
			t.detach(tid, 0)
			return
		}
		t.tracees[tid] = tracee{}
		t.resume(tid, 0)
	case group:
		t.detach(tid, 0)
	default:
		// Somebody stops the program for real. A traced one would be in state t, not T,
		// and would not wake by SIGCONT (PTRACE_TRACEME has no PTRACE_LISTEN), so a pause
		// ends the tracing of what it stops.
		t.detach(tid, sig)
	}
}

// origin tells whether the signal that stopped tid came of our tkill, and whether it is not
// the signal itself but the stop of its group that follows. A thread in a process namespace
// of its own sees a sender from outside, as we are, as process 0; a pause is a kill.
func origin(tid int) (ours, group bool) {
	var info struct {
		signo, errno, code, _ int32
		pid                   int32
		_                     [108]byte
	}
	if err := ptrace(unix.PTRACE_GETSIGINFO, tid, uintptr(unsafe.Pointer(&info))); err != nil {
		return false, errors.Is(err, unix.EINVAL)
	}
	return info.code == siTkill && (int(info.pid) == os.Getpid() || info.pid == 0), false
}

// siTkill is the code of a signal that was sent to one thread.
const siTkill = -6

// resume lets tid run on, with a signal or 0. One that was killed meanwhile cannot,
// and the next scan sees why.
func (t *tracer) resume(tid int, sig unix.Signal) { _ = unix.PtraceCont(tid, int(sig)) }

func (t *tracer) detach(tid int, sig unix.Signal) {
	if ptrace(unix.PTRACE_DETACH, tid, uintptr(sig)) != nil {
		return // killed meanwhile: as in resume
	}
	delete(t.tracees, tid)
	if tid == t.root {
		t.p.freed()
	}
}

func ptrace(request, tid int, data uintptr) error {
	if _, _, errno := unix.Syscall6(unix.SYS_PTRACE, uintptr(request), uintptr(tid), 0, data, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

func tkill(tid int, sig unix.Signal) error {
	if _, _, errno := unix.Syscall(unix.SYS_TKILL, uintptr(tid), uintptr(sig), 0); errno != 0 {
		return errno
	}
	return nil
}

// begin waits for the stop at the first exec, and rewrites there.
func (t *tracer) begin() error {
	status, err := waitStop(t.root)
	if err != nil {
		return err
	}
	if status.StopSignal() != unix.SIGTRAP {
		return fmt.Errorf("clock: process %d stopped by %v before its exec was seen", t.root, status.StopSignal())
	}
	if err := unix.PtraceSetOptions(t.root, options); err != nil {
		return fmt.Errorf("clock: trace process %d: %w", t.root, err)
	}
	t.rewrite(t.root)
	if err := t.p.problems(); err != nil {
		return err
	}
	if t.p.enough() {
		t.detach(t.root, 0)
		return nil
	}
	return unix.PtraceCont(t.root, 0)
}

// watchChildren returns a channel that hears of stops and exits.
func watchChildren() chan os.Signal {
	events := make(chan os.Signal, 1)
	signal.Notify(events, unix.SIGCHLD)
	return events
}
