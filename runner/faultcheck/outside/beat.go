package outside

import (
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Each program that is watched sleeps for 4 ms again and again, and tells every 25 ms that it has run, and each time that
// it was away for longer than that. (Two dozen threads that slept for 1 ms kept two processors busy.)
const (
	beatStep  = 4 * time.Millisecond
	beatEvery = 25 * time.Millisecond
)

// beat tells for ever how a process runs. It keeps its thread, and reads the clock by system calls.
func beat(who string) {
	runtime.LockOSThread()
	last := raw(unix.CLOCK_MONOTONIC)
	told := last
	for {
		_ = unix.Nanosleep(&unix.Timespec{Nsec: int64(beatStep)}, nil) // a signal ends it early
		now := raw(unix.CLOCK_MONOTONIC)
		switch {
		case now-last > int64(beatEvery):
			Record{Who: who, What: Gap, From: last, At: now}.print()
			told = now
		case now-told > int64(beatEvery):
			Record{Who: who, What: Beat, At: now}.print()
			told = now
		}
		last = now
	}
}

// family starts all that a fault must reach beside this process: a thread, a child, a daemon, whose parent has
// ended and which is in a session of its own, and the C program if there is one. It returns when all run. They end
// with this process, or when end is called, which waits for them.
func family(mark string, clocks bool, c string) (end func(), err error) {
	until, hold, err := os.Pipe() // nobody writes: its end is the end of this process
	if err != nil {
		return nil, err
	}
	living, lives, err := os.Pipe() // each writes a byte when it runs; it ends with the last of them
	if err != nil {
		return nil, err
	}
	defer lives.Close()
	begin(clocks, "main", "thread")
	programs := [][]string{{self(), "outside", "child", mark, flag(clocks)}, {self(), "outside", "fork", mark, flag(clocks)}}
	count := int64(2)
	if c != "" {
		programs, count = append(programs, []string{c}), count+cPrograms
	}
	for _, argv := range programs {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = until, lives, os.Stderr
		cmd.SysProcAttr = diesWithParent()
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		go func() { _ = cmd.Wait() }() // reaped; that it has ended is seen by its silence
	}
	if _, err := io.CopyN(io.Discard, living, count); err != nil {
		return nil, err
	}
	return func() {
		_ = hold.Close()
		_, _ = io.Copy(io.Discard, living)
		time.Sleep(beatEvery) // what has closed its files is about to be gone
	}, nil
}

// cPrograms is how many processes the C program is: itself, a fork, and an exec.
const cPrograms = 3

// begin starts the telling of some threads.
func begin(clocks bool, names ...string) {
	for _, name := range names {
		go beat(name)
		if clocks {
			go readClocks(name)
		}
	}
}

// relative is a child of the family, which ends with the pipe on its stdin.
func relative(who, mark string, clocks bool) error {
	if who == "fork" { // the daemon's parent: it ends at once
		cmd := exec.Command(self(), "outside", "daemon", mark, flag(clocks))
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		return cmd.Start()
	}
	begin(clocks, who)
	if _, err := os.Stdout.Write([]byte{'.'}); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

func flag(on bool) string {
	if on {
		return "clocks"
	}
	return "plain"
}

func self() string {
	path, err := os.Executable()
	if err != nil {
		return "/proc/self/exe"
	}
	return path
}
