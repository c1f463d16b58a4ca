package lossy

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// child is the process that Main is meant for.
type child struct {
	*testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Scanner
	last  int
	mount string
}

func startChild(t *testing.T, backing, mount, flags string) *child {
	t.Helper()
	c := &child{T: t, mount: mount}
	c.cmd = exec.CommandContext(t.Context(), os.Args[0])
	c.cmd.Env = append(os.Environ(), fmt.Sprintf("LOSSY_MAIN=--backing %s --mount %s %s", backing, mount, flags))
	c.cmd.Stderr = os.Stderr
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.out = bufio.NewScanner(stdout)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.in.Close()
		_ = c.cmd.Wait()
		if err := Detach(mount); err != nil {
			t.Error(err)
		}
	})
	if e := c.next(); !e.Ready {
		t.Fatalf("not ready: %+v", e)
	}
	return c
}

func (c *child) next() Event {
	c.Helper()
	var e Event
	if !c.out.Scan() {
		c.Fatal("the process has ended")
	}
	if err := json.Unmarshal(c.out.Bytes(), &e); err != nil {
		c.Fatal(err)
	}
	return e
}

// do sends a command and returns its answer.
func (c *child) do(cmd Command) Event {
	c.Helper()
	c.last++
	cmd.ID = c.last
	line, _ := json.Marshal(cmd)
	if _, err := c.in.Write(append(line, '\n')); err != nil {
		c.Fatal(err)
	}
	for {
		if e := c.next(); e.Re == cmd.ID {
			return e
		}
	}
}

func TestProcess(t *testing.T) {
	backing, mount := t.TempDir(), t.TempDir()
	c := startChild(t, backing, mount, "--seed 7")
	if err := os.WriteFile(mount+"/f", []byte("unsynced"), 0o600); err != nil {
		t.Fatal(err)
	}
	if e := c.do(Command{Do: CrashNow}); e.Error != "" || e.Loss == nil || e.Loss.Entries != 1 || e.Loss.Bytes != 8 {
		t.Errorf("crash: %+v", e)
	}
	for _, bad := range []Command{{Do: "dance"}, {Do: CrashNow}, {Do: StallNow, Stall: &Stall{Match: "["}}} {
		if e := c.do(bad); e.Error == "" {
			t.Errorf("%+v: no error", bad)
		}
	}
	if e := c.do(Command{Do: ServeAgain}); !e.Ready {
		t.Errorf("serve: %+v", e)
	}
	if e := c.do(Command{Do: ServeAgain}); e.Error == "" {
		t.Error("served twice")
	}
	if err := os.WriteFile(mount+"/g", []byte("unsynced"), 0o600); err != nil {
		t.Fatal(err)
	}
	_ = c.in.Close() // EOF is a clean stop
	_ = c.cmd.Wait()
	if got, err := os.ReadFile(backing + "/g"); err != nil || string(got) != "unsynced" {
		t.Errorf("%q, %v", got, err)
	}
	if connection(mount) != "" {
		t.Error("still mounted")
	}
}

func TestProcessThatDiesLosesNothing(t *testing.T) {
	backing, mount := t.TempDir(), t.TempDir()
	c := startChild(t, backing, mount, "")
	if err := os.WriteFile(mount+"/f", []byte("unsynced"), 0o600); err != nil {
		t.Fatal(err)
	}
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
	c = startChild(t, backing, mount, "") // over the dead mount
	got, err := os.ReadFile(mount + "/f")
	if err != nil || string(got) != "unsynced" {
		t.Errorf("%q, %v", got, err)
	}
	_ = c
}

func TestTerminatedProcessUnmounts(t *testing.T) {
	mount := t.TempDir()
	c := startChild(t, t.TempDir(), mount, "")
	_ = c.cmd.Process.Signal(unix.SIGTERM)
	if err := c.cmd.Wait(); err != nil || connection(mount) != "" {
		t.Errorf("%v, still mounted: %q", err, connection(mount))
	}
}

func TestMainSaysWhatIsWrong(t *testing.T) {
	for _, args := range []string{"", "--backing /nowhere --mount /tmp", "--backing /tmp --mount /nowhere", "--backing /tmp --mount /tmp --mode maybe", "--dance"} {
		var out bytes.Buffer
		if err := Main(strings.NewReader(""), &out, strings.Fields(args)...); err == nil {
			t.Errorf("%q: no error", args)
		} else {
			t.Log(err)
		}
	}
}
