// Package gobuild builds programs from pinned Go modules, with the user's own go
// command and module proxy, each in a module of its own. What was built once is kept
// in the user's cache, whatever the compiler.
package gobuild

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/dlmtest/dlmtest/internal/scratch"
)

// ErrNoGo says that this machine has no go command.
var ErrNoGo = errors.New("there is no go command: install Go")

// Command runs the go command in a folder that is in no module of the user's, and
// ends its compilers with it and with this process. Nodes are of this machine's kind and have no C library
// to count on, so it builds for Linux without cgo.
func Command(ctx context.Context, dir string, args ...string) ([]byte, error) {
	group, end, err := leash()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	defer end()
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOWORK=off", "GOFLAGS=-mod=mod "+parallel(),
		"GOTMPDIR="+dir, "PWD="+dir) // what a killed one leaves goes with the folder
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: group}
	cmd.Cancel = func() error { return syscall.Kill(-group, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return nil, fmt.Errorf("%w: %w", ErrNoGo, err)
	}
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, lastLines(said.String(), 15))
	}
	return out, nil
}

// parallel keeps the user's own limit of compilers.
func parallel() string {
	for _, flag := range strings.Fields(os.Getenv("GOFLAGS")) {
		if strings.HasPrefix(flag, "-p=") {
			return flag
		}
	}
	return ""
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// Versions are those of a module that its proxy knows, the oldest first, with those that
// its author has taken back; none: there is no such module, or none has a tag.
func Versions(ctx context.Context, module string) ([]string, error) {
	aside, err := scratch.New("versions")
	if err != nil {
		return nil, err
	}
	defer aside.Remove()
	if err := (Program{}).Write(aside.Path); err != nil {
		return nil, err
	}
	out, err := Command(ctx, aside.Path, "list", "-m", "-versions", "-retracted", "-f", "{{range .Versions}}{{.}} {{end}}", module)
	return strings.Fields(string(out)), err
}

// leash makes a process group that ends with this process, by SIGKILL too: its leader is
// a shell that waits for the end of a pipe. end ends the group now.
func leash() (group int, end func(), err error) {
	shell := exec.Command("/bin/sh", "-c", "read -r line; kill -KILL 0")
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	pipe, err := shell.StdinPipe()
	if err != nil {
		return 0, nil, err
	}
	if err := shell.Start(); err != nil {
		return 0, nil, err
	}
	return shell.Process.Pid, func() {
		_ = syscall.Kill(-shell.Process.Pid, syscall.SIGKILL) // what a compiler left in the background, too
		_ = pipe.Close()
		_ = shell.Wait() // it was killed
	}, nil
}
