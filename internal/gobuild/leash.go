package gobuild

import (
	"os/exec"
	"syscall"
)

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
