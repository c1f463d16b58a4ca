package agent

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/eventually"
)

// What a process has touched is counted, and what it shares once.
func TestMeasure(t *testing.T) {
	self := []int{os.Getpid()}
	before := measure(self)
	const size = 64 << 20
	b, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(b)
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
	after := measure(self)
	if grown := int64(after.memory) - int64(before.memory); grown < size*9/10 || after.threads < 2 {
		t.Errorf("%d bytes more, %d threads", grown, after.threads)
	}
	if after.tables < size/4096*8 || after.tables > size || after.files < 3 || after.sockets < 1 {
		t.Errorf("%+v", after)
	}
	if s := shares(self); s < size*9/10 {
		t.Errorf("its share is %d", s)
	}
}

// Each share has an end, and what no process has counts, too.
func TestBeyond(t *testing.T) {
	share := usage{memory: 100, threads: 10, sockets: 20, files: 30}
	for _, c := range []struct {
		u     usage
		exact uint64
		want  string
	}{{usage{memory: 100, threads: 10, sockets: 20, files: 30}, 0, ""}, {usage{memory: 500}, 100, ""}, {usage{memory: 500}, 101, "memory"},
		{usage{memory: 150, tables: 60}, 50, "memory"}, {usage{threads: 11}, 0, "11 processes"}, {usage{sockets: 21}, 0, "21 sockets"}, {usage{files: 31}, 0, "31 files"}} {
		got := share.beyond(c.u, true, func() uint64 { return c.exact })
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%+v: %q", c.u, got)
		}
		if got := share.beyond(c.u, false, nil); got != "" && c.u.threads <= 10 {
			t.Errorf("in a container, %+v: %q", c.u, got)
		}
	}
}

// Processes are looked at one by one where the machine has lost what may be theirs, however slowly, and each second.
func TestCalm(t *testing.T) {
	share := usage{memory: 160, threads: 160}
	was := machine{free: 1000, threads: 100, at: time.Now()}
	for want, all := range map[bool][]machine{
		true:  {{1000, 100, was.at}, {991, 109, was.at}, {2000, 1, was.at.Add(closeEvery - 1)}},
		false: {{990, 100, was.at}, {1000, 110, was.at}, {1000, 100, was.at.Add(closeEvery)}},
	} {
		for _, now := range all {
			if share.calm(was, now) != want {
				t.Errorf("%+v after %+v: want %v", now, was, want)
			}
		}
	}
	if share.calm(machine{}, was) {
		t.Error("nobody has looked yet")
	}
	if now, ok := lookAround(); !ok || now.free == 0 || now.threads < 2 {
		t.Errorf("%+v %v", now, ok)
	}
}

func TestWritten(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if n := written(dir, filepath.Join(dir, "no")); n < 1<<20 || n > 2<<20 {
		t.Errorf("%d bytes", n)
	}
}

// A file without a name takes its place for as long as it is open, and an empty one some, too.
func TestRemoved(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, err = f.Write(make([]byte, 1<<20))
	before := removed([]int{os.Getpid()}, dir)
	if err := errors.Join(err, os.Remove(f.Name()), os.WriteFile(f.Name()+"2", nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	self := os.Getpid()
	if n := removed([]int{self, self}, dir) - before; n < 1<<20 || n > 2<<20 {
		t.Errorf("%d bytes without a name", n)
	}
	if n := written(dir); n < 2*leastFile {
		t.Errorf("an empty file counts %d bytes with its folder", n)
	}
}

// The adapter that takes too much is ended and named, and its worker goes on; a server that
// does is an error of the run.
func TestOverdrawn(t *testing.T) {
	for _, worker := range []bool{true, false} {
		var said bytes.Buffer
		a := &agent{name: "node-1", out: newOut(&said)}
		child := Child{Argv: []string{"sh", "-c", "sleep 60 & wait; sleep 60"}, Starts: worker, Speaks: worker}
		c, err := startChild(child, nil, nil, func([]byte, bool) {}, func() bool { return false })
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.kill)
		a.child = c
		var all []int
		eventually.True(t, "the child has started another", func() bool { all = c.processes(); return len(all) > 1 })
		a.overdrawn("used too much")
		a.out.close()
		started := kill{pids: all[1:]}
		eventually.True(t, "what it has started is gone", func() bool { return len(started.living()) == 0 })
		if !worker {
			eventually.True(t, "the server has ended", func() bool { return a.stopped("test") != nil })
		} else if err := a.stopped("test"); err != nil {
			t.Errorf("the worker was ended, too: %v", err)
		}
		want := `"error":"the server of node-1 used too much`
		if worker {
			want = `"error":"the adapter's fault (greedy): it used too much`
		}
		if !strings.Contains(said.String(), want) || worker != strings.Contains(said.String(), `"f":"`+string(history.Adapter)+`"`) {
			t.Errorf("said %s", said.String())
		}
	}
}
