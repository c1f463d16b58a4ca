package vdso

import (
	"os"
	"os/exec"
	"testing"

	"github.com/dlmtest/dlmtest/internal/eventually"
)

func TestPatched(t *testing.T) {
	p, other := newPage(t), newPage(t)
	pid := startReader(t, p, role("reader")).process.cmd.Process.Pid
	if ok, err := p.Patched(pid); !ok || err != nil {
		t.Errorf("a program of the page: %v, %v", ok, err)
	}
	if ok, err := other.Patched(pid); ok || err != nil {
		t.Errorf("a program of another page: %v, %v", ok, err)
	}
	if ok, err := p.Patched(os.Getpid()); ok || err != nil {
		t.Errorf("this process: %v, %v", ok, err)
	}
	if _, err := p.Patched(1 << 30); err == nil {
		t.Error("a process that is not there")
	}
}

// What is executed after Settle reads the true time, and it shows.
func TestExecAfterSettleShows(t *testing.T) {
	p := newPage(t)
	r := startReader(t, p, exec.Command("sh", "-c", "read x; sleep 100 & echo; read x; kill $!; exit 0"))
	if err := r.process.Settle(); err != nil {
		t.Fatal(err)
	}
	_, _ = r.in.WriteString("\n")
	_, _ = r.out.ReadString('\n')
	eventually.True(t, "only sh is left attached", func() bool { n, _ := p.Attached(); return n == 1 })
}
