package clusters

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/clusters/engine"
	"github.com/dlmtest/dlmtest/internal/eventually"
)

// A runner killed by SIGKILL leaves no container, no network and no janitor.
func TestKilledRunner(t *testing.T) {
	d := docker(t)
	run := runID(t)
	runner := exec.Command(agentBinary, "runner", run.ID)
	runner.Stderr = os.Stderr
	out, err := runner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := runner.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "up\n" {
		t.Fatalf("runner said %q, %v", line, err)
	}
	if n := len(ofRun(t, d, run)); n != 3 {
		t.Errorf("%d things of a run of two nodes and a network", n)
	}
	if janitors() != 1 {
		t.Errorf("%d janitors", janitors())
	}
	runner.Process.Kill()
	runner.Wait()
	begin := time.Now()
	eventually.True(t, "nothing of the run", func() bool { return len(ofRun(t, d, run)) == 0 })
	t.Logf("gone after %v", time.Since(begin))
	eventually.True(t, "no janitor", func() bool { return janitors() == 0 })
}

// A killed runner that is still bringing nodes up: the daemon may finish a
// create after its client has died.
func TestKilledDuringUp(t *testing.T) {
	d := docker(t)
	for _, after := range []time.Duration{50, 150, 400} {
		run := runID(t)
		runner := exec.Command(agentBinary, "runner", run.ID)
		if err := runner.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(after * time.Millisecond)
		runner.Process.Kill()
		runner.Wait()
		eventually.True(t, "no janitor", func() bool { return janitors() == 0 })
		if left := ofRun(t, d, run); len(left) > 0 {
			t.Errorf("killed after %d ms: left %v", after, left)
		}
	}
}

// Without a janitor, the next start removes what a dead owner left, and only that.
func TestSweep(t *testing.T) {
	d := docker(t)
	mine := bringUp(t, d, []NodeSpec{ClientSpec("mine")})
	run := runID(t)
	ghost := *d
	ghost.Owner.PID = 1 << 30
	makeNetwork(t, &ghost, run)
	if err := d.api.CreateVolume(t.Context(), "dlmtest-"+run.ID, ghost.labels(run)); err != nil {
		t.Fatal(err)
	}
	other := *d
	other.Owner.Space = "1" // perhaps alive
	kept := Run{ID: run.ID + "-kept"}
	makeNetwork(t, &other, kept)
	removed, err := d.Sweep(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(removed, "\n"); strings.Count(all, "dlmtest-"+run.ID) != 2 {
		t.Errorf("removed %q", removed)
	}
	if left := ofRun(t, d, run); len(left) > 0 {
		t.Errorf("left %v", left)
	}
	if left := ofRun(t, d, kept); len(left) != 1 {
		t.Errorf("the network of an unknown owner is gone")
	}
	if got := ask(t, mine.Nodes[0], "hello"); got != "mine hello\n" {
		t.Errorf("a living run was touched: %q", got)
	}
}

func makeNetwork(t *testing.T, d *Docker, run Run) {
	t.Helper()
	name := "dlmtest-" + run.ID
	if err := d.api.CreateNetwork(t.Context(), name, engine.NetworkOptions{Labels: d.labels(run)}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.api.RemoveNetwork(context.Background(), name) })
}

func TestListen(t *testing.T) {
	owner := "owner boot/1/2/3\n"
	for name, c := range map[string]struct {
		said   string
		groups int
		done   bool
		fails  bool
	}{
		"done":        {owner + "done\n", 0, true, false},
		"died":        {owner + "pgid 7\npgid 8\nforget 8\n", 1, false, false},
		"everybody":   {owner + "pgid 0\npgid 1\npgid x\n", 0, false, false},
		"unnamed":     {"", 0, false, true},
		"bad owner":   {"owner x\n", 0, false, true},
		"half a line": {owner + "do", 0, false, false},
	} {
		o, err := listen(strings.NewReader(c.said))
		if len(o.groups) != c.groups || o.done != c.done || (err != nil) != c.fails {
			t.Errorf("%s: %+v, %v", name, o, err)
		}
	}
}

// A janitor that is left with one run does not touch the others of a living owner.
func TestLeave(t *testing.T) {
	o, err := listen(strings.NewReader("owner boot/1/2/3\nleave 1-a\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		owner, run string
		want       bool
	}{{o.owner.String(), "1-a", true}, {o.owner.String(), "1-b", false}, {"boot/9/2/3", "1-a", false}} {
		if got := o.mean(leftover{owner: c.owner, run: c.run}); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	all, err := listen(strings.NewReader("owner boot/1/2/3\n"))
	if err != nil || !all.mean(leftover{owner: o.owner.String(), run: "1-b"}) {
		t.Errorf("of a dead owner everything is meant: %+v, %v", all, err)
	}
}

// The janitor ends a process group that outlived the runner.
func TestJanitorKillsGroup(t *testing.T) {
	d := docker(t)
	owner := d.Owner
	owner.PID = 1 << 30 // not ourselves: it would sweep other tests
	sleep := exec.Command("sleep", "100")
	sleep.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := sleep.Start(); err != nil {
		t.Fatal(err)
	}
	j, err := StartJanitor(agentBinary, owner)
	if err != nil {
		t.Fatal(err)
	}
	j.Watch(sleep.Process.Pid)
	j.pipe.Close() // as the kernel does when the runner dies
	ended := make(chan error, 1)
	go func() { ended <- sleep.Wait() }()
	select {
	case <-ended:
	case <-time.After(eventually.Most):
		t.Error("the group lives")
		sleep.Process.Kill()
	}
	if err := j.cmd.Wait(); err != nil {
		t.Errorf("janitor: %v", err)
	}
}

// ofRun names every container and network of a run.
func ofRun(t *testing.T, d *Docker, run Run) []string {
	t.Helper()
	var found []string
	for _, list := range []func(context.Context) ([]leftover, error){d.containers, d.networks, d.volumes} {
		all, err := list(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range all {
			if l.run == run.ID {
				found = append(found, l.what)
			}
		}
	}
	return found
}

// janitors counts those of this test binary's agent.
func janitors() int {
	n := 0
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range all {
		line, _ := os.ReadFile(path)
		if string(line) == agentBinary+"\x00janitor\x00" {
			n++
		}
	}
	return n
}
