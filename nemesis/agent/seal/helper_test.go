package seal

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
)

// A file that this process was left by the one that started it goes to none of its own programs, but those that are given it.
func TestCloseOnExec(t *testing.T) {
	left, err := syscall.Dup(int(os.Stdout.Fd())) // open in a program that is started, as Dup leaves it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(left) })
	has := func(fd int, given ...*os.File) bool {
		cmd := exec.CommandContext(t.Context(), "test", "-e", "/proc/self/fd/"+strconv.Itoa(fd))
		cmd.ExtraFiles = given
		return cmd.Run() == nil
	}
	if !has(left) {
		t.Fatal("the file that was left open is not there: nothing is tested")
	}
	CloseOnExec()
	if has(left) {
		t.Error("a program has the file that was left open")
	}
	if !has(3, os.Stdout) {
		t.Error("a program has not the file that it was given")
	}
}
