package agent

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/eventually"
	"github.com/dlmtest/dlmtest/nemesis/agent/lossy"
	"github.com/dlmtest/dlmtest/nemesis/agent/vdso"
)

// TestMain lets the test binary play the worker of a node, its file system, and a
// program that ends at once.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "fs" {
		if err := lossy.Main(os.Stdin, os.Stdout, os.Args[2:]...); err != nil {
			os.Exit(1) // it has said why
		}
		return
	}
	if len(os.Args) > 1 && os.Args[1] == "trial" {
		return
	}
	if os.Getenv("AGENT_TEST_WORKER") != "" {
		playWorker()
		return
	}
	if len(os.Args) > 1 && os.Args[1] == "clock" { // as the real binary is started to read its clocks
		if status, err := os.ReadFile("/proc/self/status"); err != nil || !strings.Contains(string(status), "\nSeccomp:\t2\n") {
			fmt.Fprintln(os.Stderr, "not sealed", err)
			os.Exit(1)
		}
		if err := vdso.Report(os.Stdout); err != nil {
			os.Exit(1)
		}
		return
	}
	if addr := os.Getenv("AGENT_TEST_CLIENT"); addr != "" {
		playClient(addr)
		return
	}
	os.Exit(m.Run())
}

// playWorker waits until it is armed, then passes its checkpoint again and again.
func playWorker() {
	orders := json.NewDecoder(os.Stdin)
	var o Order
	for o.Armed == nil {
		if orders.Decode(&o) != nil {
			return
		}
	}
	go func() {
		for range time.Tick(10 * time.Millisecond) { // the heartbeat of a real worker
		}
	}()
	for n := 1; ; n++ {
		fmt.Printf(`{"checkpoint":{"id":%d,"checkpoint":"before-write","key":"k","owner":"o%d"}}`+"\n", n, n)
		o = Order{}
		for o.Go != n {
			if orders.Decode(&o) != nil {
				return
			}
		}
		fmt.Printf(`{"op":{"type":"invoke","f":"write","owner":"o%d","time":%d}}`+"\n", n, history.Raw())
	}
}

// remote is an agent under test and the runner's end of its stdio.
type remote struct {
	t     *testing.T
	in    *io.PipeWriter
	out   *io.PipeReader
	lines *bufio.Scanner
	id    int
	seen  []Message
	done  chan error
}

func startAgent(t *testing.T) *remote {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	r := &remote{t: t, in: inW, out: outR, lines: bufio.NewScanner(outR), done: make(chan error, 1)}
	go func() { r.done <- Main("node-1", inR, outW) }()
	t.Cleanup(func() {
		_ = inW.Close()
		go func() { _, _ = io.Copy(io.Discard, outR) }()
		if err := <-r.done; err != nil {
			t.Error(err)
		}
	})
	return r
}

// do sends a command and returns its answer; what comes before is kept in seen.
func (r *remote) do(c Command) Message {
	r.t.Helper()
	r.id++
	c.ID = r.id
	line, _ := json.Marshal(c)
	if _, err := r.in.Write(append(line, '\n')); err != nil {
		r.t.Fatal(err)
	}
	return r.until(func(m Message) bool { return m.Re == c.ID })
}

func (r *remote) until(match func(Message) bool) Message {
	r.t.Helper()
	limit := time.AfterFunc(eventually.Most, func() { _ = r.out.CloseWithError(os.ErrDeadlineExceeded) })
	defer limit.Stop()
	for i, m := range r.seen {
		if match(m) {
			r.seen = append(r.seen[:i:i], r.seen[i+1:]...)
			return m
		}
	}
	for r.lines.Scan() {
		var m Message
		if err := json.Unmarshal(r.lines.Bytes(), &m); err != nil {
			r.t.Fatalf("%q: %v", r.lines.Text(), err)
		}
		if match(m) {
			return m
		}
		r.seen = append(r.seen, m)
	}
	r.t.Fatalf("the agent ended, or what is waited for did not come within %v: %v", eventually.Most, r.lines.Err())
	return Message{}
}

// fault waits for the note of one phase of fault id.
func (r *remote) fault(id int, phase history.Phase) history.Op {
	r.t.Helper()
	var found history.Op
	r.until(func(m Message) bool {
		var op history.Op
		if m.Op == nil || json.Unmarshal(m.Op, &op) != nil || op.Fault == nil || op.Fault.ID != id || op.Fault.Phase != phase {
			return false
		}
		found = op
		return true
	})
	return found
}

func (r *remote) write(owner string) history.Op {
	r.t.Helper()
	var found history.Op
	r.until(func(m Message) bool {
		var op history.Op
		if m.Op == nil || json.Unmarshal(m.Op, &op) != nil || op.Owner != owner {
			return false
		}
		found = op
		return true
	})
	return found
}

func worker() *Child {
	return &Child{Argv: []string{os.Args[0]}, Env: []string{"AGENT_TEST_WORKER=1"}, Speaks: true}
}

func TestLogExitAndRun(t *testing.T) {
	r := startAgent(t)
	if m := r.do(Command{Do: Start, Child: &Child{Argv: []string{"sh", "-c", "echo hello; echo trouble >&2; exit 7"}}}); m.Error != "" {
		t.Fatal(m.Error)
	}
	r.until(func(m Message) bool { return m.Log == "hello" })
	r.until(func(m Message) bool { return m.Log == "trouble" })
	if exit := r.until(func(m Message) bool { return m.Exit != nil }).Exit; exit.Code != 7 {
		t.Errorf("exit code %d, want 7", exit.Code)
	}
	if m := r.do(Command{Do: Run, Child: &Child{Argv: []string{"echo", "7.0"}}}); m.Log != "7.0\n" || m.Error != "" {
		t.Errorf("run: %+v", m)
	}
	if m := r.do(Command{Do: Start, Child: &Child{Argv: []string{"/no/such/program"}}}); !strings.Contains(m.Error, "/no/such/program") {
		t.Errorf("an unknown program: %+v", m)
	}
	if m := r.do(Command{Do: "dance"}); !strings.Contains(m.Error, "dance") {
		t.Errorf("an unknown command: %+v", m)
	}
}

func TestHealthWaitsForTheServer(t *testing.T) {
	r := startAgent(t)
	file := t.TempDir() + "/up"
	r.do(Command{Do: Start, Child: &Child{Argv: []string{"sh", "-c", "sleep 0.3; touch " + file + "; sleep 100"}, Health: []string{"test", "-e", file}}})
	if m := r.do(Command{Do: Check}); m.Error != "" {
		t.Error(m.Error)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error("healthy before the server was up")
	}
}

func TestHealthTellsOfADeadServer(t *testing.T) {
	r := startAgent(t)
	r.do(Command{Do: Start, Child: &Child{Argv: []string{"false"}, Health: []string{"false"}}})
	if m := r.do(Command{Do: Check}); !strings.Contains(m.Error, "exit status 1") {
		t.Errorf("got %+v", m)
	}
}

func TestPauseAtTheCheckpoint(t *testing.T) {
	r := startAgent(t)
	r.do(Command{Do: Start, Child: worker()})
	r.do(Command{Do: ArmCheckpoint, Arm: &Arm{Fault: 1, Checkpoint: "before-write", Kind: "pause", Min: 100 * time.Millisecond, Max: time.Minute}})
	hit := r.until(func(m Message) bool { return m.Hit != nil }).Hit
	if hit.Owner != "o1" {
		t.Fatalf("hit %+v", hit)
	}
	begin := r.fault(1, history.Begin)
	r.do(Command{Do: Heal, Fault: 1})
	observed := r.fault(1, history.Observed)
	heal := r.fault(1, history.Heal)
	write := r.write("o1")
	if heal.Time-begin.Time < int64(100*time.Millisecond) {
		t.Errorf("the pause ended after %d ns, before its least length", heal.Time-begin.Time)
	}
	if least, most := int64(100*time.Millisecond), heal.Time-begin.Time; observed.Fault.Lasted < least || observed.Fault.Lasted > most || heal.Fault.Lasted != 0 {
		t.Errorf("proven for %d ns: want %d to %d, and of no other phase", observed.Fault.Lasted, least, most)
	}
	if write.Time < heal.Time {
		t.Errorf("the write was invoked %d ns before the end of the pause", heal.Time-write.Time)
	}
	if !strings.Contains(observed.Fault.Proof, "0 ticks of CPU used") {
		t.Errorf("proof %q", observed.Fault.Proof)
	}
	r.write("o2") // disarmed: it goes on by itself
}

// A machine that is slow to inject makes no fault shorter.
func TestAFaultLastsFromWhenItIsInForce(t *testing.T) {
	quick := kinds["pause"]
	t.Cleanup(func() { kinds["pause"] = quick })
	kinds["pause"] = func(a *agent, s *active) (fault, error) {
		time.Sleep(150 * time.Millisecond)
		return quick(a, s)
	}
	r := startAgent(t)
	r.do(Command{Do: Start, Child: worker()})
	r.do(Command{Do: Inject, Arm: &Arm{Fault: 1, Kind: "pause", Min: 100 * time.Millisecond, Max: 100 * time.Millisecond}})
	if lasted := r.fault(1, history.Observed).Fault.Lasted; lasted < int64(100*time.Millisecond) {
		t.Errorf("in force for %d ns", lasted)
	}
	r.fault(1, history.Heal)
}

func TestPauseEndsByItself(t *testing.T) {
	r := startAgent(t)
	r.do(Command{Do: Start, Child: worker()})
	r.do(Command{Do: ArmCheckpoint, Arm: &Arm{Fault: 1, Checkpoint: "before-write", Kind: "pause", Max: 50 * time.Millisecond}})
	r.fault(1, history.Heal)
	if over := r.until(func(m Message) bool { return m.Over != nil }).Over; over.Error != "" || over.Fault != 1 {
		t.Errorf("over %+v", over)
	}
}

// A fault that does not happen must be missed, not believed: here something else
// continues the victim.
func TestPauseThatIsUndoneIsMissed(t *testing.T) {
	r := startAgent(t)
	r.do(Command{Do: Start, Child: &Child{Argv: []string{"sh", "-c", "echo $$; while :; do :; done"}}})
	var pid int
	r.until(func(m Message) bool { n, _ := fmt.Sscan(m.Log, &pid); return n == 1 })
	if m := r.do(Command{Do: Inject, Arm: &Arm{Fault: 1, Kind: "pause", Max: time.Minute}}); m.Error != "" {
		t.Fatal(m.Error)
	}
	if m := r.do(Command{Do: Inject, Arm: &Arm{Fault: 2, Kind: "pause"}}); m.Error == "" {
		t.Error("a second pause of a stopped node was not refused")
	}
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond)
	r.do(Command{Do: Heal, Fault: 1})
	r.fault(1, history.Missed)
	r.fault(1, history.Heal)
}

func TestKillAtTheCheckpoint(t *testing.T) {
	r := startAgent(t)
	r.do(Command{Do: Start, Child: worker()})
	r.do(Command{Do: ArmCheckpoint, Arm: &Arm{Fault: 1, Checkpoint: "before-write", Kind: "kill", Max: time.Minute}})
	r.until(func(m Message) bool { return m.Hit != nil })
	r.do(Command{Do: Heal, Fault: 1})
	r.fault(1, history.Observed)
	if heal := r.fault(1, history.Heal); !strings.Contains(heal.Fault.Proof, "stays away") {
		t.Errorf("a killed client came back: %+v", heal.Fault)
	}
}

func TestKilledServerIsStartedAgain(t *testing.T) {
	r := startAgent(t)
	r.do(Command{Do: Start, Child: &Child{Argv: []string{"sh", "-c", "echo up; sleep 100"}}})
	r.until(func(m Message) bool { return m.Log == "up" })
	r.do(Command{Do: Inject, Arm: &Arm{Fault: 1, Kind: "kill", Max: 50 * time.Millisecond}})
	r.fault(1, history.Observed)
	r.until(func(m Message) bool { return m.Log == "up" })
	for _, m := range r.seen {
		if m.Exit != nil {
			t.Error("a planned end was reported as an exit")
		}
	}
}

func TestStalledWorkerIsScheduled(t *testing.T) {
	r := startAgent(t)
	r.do(Command{Do: Start, Child: worker()})
	r.do(Command{Do: ArmCheckpoint, Arm: &Arm{Fault: 1, Checkpoint: "before-write", Kind: "stall-worker", Max: 300 * time.Millisecond}})
	r.until(func(m Message) bool { return m.Hit != nil })
	r.fault(1, history.Heal)
	r.write("o1")
	if m := r.do(Command{Do: Inject, Arm: &Arm{Fault: 2, Kind: "stall-worker"}}); m.Error == "" {
		t.Error("stall-worker without a checkpoint was not refused")
	}
	if m := r.do(Command{Do: Inject, Arm: &Arm{Fault: 3, Kind: "flood"}}); !strings.Contains(m.Error, "flood") {
		t.Error("an unknown fault was not refused")
	}
}

func TestHoldKeepsTheWorkerRunningAtItsCheckpoint(t *testing.T) {
	r := startAgent(t)
	r.do(Command{Do: Start, Child: worker()})
	r.do(Command{Do: ArmCheckpoint, Arm: &Arm{Fault: -1, Checkpoint: "before-write", Kind: Hold, Max: time.Minute}})
	r.until(func(m Message) bool { return m.Hit != nil })
	r.do(Command{Do: Heal, Fault: -1})
	if note := r.write("o1"); note.F != history.Held || note.Length <= 0 {
		t.Errorf("the hold is not in the history: %+v", note)
	}
}

func TestKillEndsGrandchildrenInSessionsOfTheirOwnEvenWhenStopped(t *testing.T) {
	r := startAgent(t)
	r.do(Command{Do: Start, Child: &Child{Argv: []string{"sh", "-c", "setsid sleep 100 & echo $!; wait"}}})
	var pid int
	r.until(func(m Message) bool { n, _ := fmt.Sscan(m.Log, &pid); return n == 1 })
	r.do(Command{Do: Inject, Arm: &Arm{Fault: 1, Kind: "pause", Max: time.Minute}})
	r.do(Command{Do: Kill})
	eventually.True(t, "the grandchild is gone", func() bool { return len((&kill{pids: []int{pid}}).living()) == 0 })
}

func TestEOFKillsTheChild(t *testing.T) {
	r := startAgent(t)
	r.do(Command{Do: Start, Child: &Child{Argv: []string{"sh", "-c", "echo $$; sleep 100"}}})
	var pid int
	r.until(func(m Message) bool { n, _ := fmt.Sscan(m.Log, &pid); return n == 1 })
	_ = r.in.Close()
	for r.lines.Scan() { // until the agent has closed nothing more comes
		if strings.Contains(r.lines.Text(), `"exit"`) {
			break
		}
	}
	if err := syscall.Kill(pid, 0); err == nil {
		t.Errorf("process %d is still there", pid)
	}
}
