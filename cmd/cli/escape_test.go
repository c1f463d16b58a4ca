package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// escape is one probe's finding, as testdata/escape writes it into its node's log.
type escape struct {
	Probe   string `json:"probe"`
	Escaped bool   `json:"escaped"`
	How     string `json:"how"`
}

// Code under test tries every way out of its node that testdata/escape knows, in both
// runtimes, for root and for an ordinary user. None leads anywhere, and the run ends with
// a verdict all the same. What the probes tell is not all: the machine has sockets, files
// and a process for them to reach, and those say whether anything has come.
func TestEscape(t *testing.T) {
	t.Parallel()
	eachSandbox(t, func(t *testing.T, w *world) {
		beside(t) // each has a world of its own
		f := w.run(t, "")
		found := findings(t, f.dir)
		if len(found) != 2 {
			t.Fatalf("findings of %d clients, want 2; exit %d\n%s", len(found), f.code, f.stderr)
		}
		want := w.probes(t)
		if len(want) < 20 {
			t.Errorf("only %d probes", len(want))
		}
		for client, all := range found {
			for _, name := range want {
				switch e, told := all[name]; {
				case !told:
					t.Errorf("%s: the probe %s has told nothing", client, name)
				case e.Escaped:
					t.Errorf("%s: %s got out: %s", client, name, e.How)
				default:
					t.Logf("%s: %-20s %s", client, name, e.How)
				}
			}
		}
		w.unharmed(t)
		forged, err := os.ReadFile(filepath.Join(f.dir, "history.jsonl"))
		if err != nil || bytes.Contains(forged, []byte(w.mark)) {
			t.Errorf("the history has what the adapter forged (%v)", err)
		}
		named := f.code == exitFailed && strings.Contains(f.stderr, "the adapter's fault") // a probe that hangs on a busy machine
		verdict := f.verdict("mutual-exclusion")
		judged := f.code == exitHolds && verdict == "holds" || f.code == exitInconclusive && verdict != "violated" // probes leave little time for locking
		if !named && !judged {
			t.Errorf("exit %d, mutual-exclusion %s\n%s", f.code, verdict, f.stderr)
		}
	})
}

// Code under test takes all that it can get. It gets a share that the machine
// can spare, and the run ends with a verdict or says that the adapter is at fault.
func TestBombs(t *testing.T) {
	eachSandbox(t, func(t *testing.T, w *world) {
		bombs := []string{"disk,processes", "memory"} // each of the last ones ends the adapter
		if os.Getenv("BOMBS") != "" {
			bombs = []string{"disk", "processes", "memory"}
		} else if w.runtime == "docker" && w.uid != os.Geteuid() || w.runtime == "local" && w.uid == 0 {
			t.Skip("BOMBS=1 tries each bomb, and as each user")
		}
		if w.runtime == "local" { // memory that no process has: Docker counts it
			bombs = append(bombs, "segments,shared,zeros,inodes", "sockets")
		}
		for _, bomb := range bombs {
			t.Run(bomb, func(t *testing.T) {
				stop := leastMemory()
				f := w.run(t, bomb)
				taken, told := stop(), 0
				for client, all := range findings(t, f.dir) {
					for _, e := range all {
						if e.Escaped {
							t.Errorf("%s: %s: nothing stopped it: %s", client, e.Probe, e.How)
						}
						t.Logf("%s: %s %s", client, e.Probe, e.How)
						told++
					}
				}
				if told == 0 && f.code != exitFailed {
					t.Error("the run was over before the bomb went off")
				}
				if taken > 6<<30 {
					t.Errorf("the machine had %d MB less memory for a while", taken>>20)
				}
				if f.code == exitFailed && !strings.Contains(f.stderr, "the adapter's fault (") && !strings.Contains(f.stderr, "the adapter of client-") || f.code == exitUsage || f.code < 0 {
					t.Errorf("exit %d is neither a verdict nor a fault of the adapter\n%s", f.code, f.stderr)
				}
				t.Logf("exit %d, mutual-exclusion %s %.300s", f.code, f.verdict("mutual-exclusion"), f.stderr)
				w.unharmed(t)
				nothingLeft(t, f.runner)
			})
		}
	})
}

// eachSandbox calls test in both runtimes, as root, where the tests are root's, and as an
// ordinary user.
func eachSandbox(t *testing.T, test func(*testing.T, *world)) {
	dlmtest(t)
	users := map[string]int{"user": os.Geteuid()}
	if os.Geteuid() == 0 {
		users = map[string]int{"root": 0, "user": ordinaryUser}
	}
	for _, runtime := range []string{"docker", "local"} {
		for name, uid := range users {
			t.Run(runtime+" as "+name, func(t *testing.T) { test(t, newWorld(t, runtime, uid)) })
		}
	}
}

// ordinaryUser is a number that nobody has.
const ordinaryUser = 54321

// run starts two clients whose adapter is the prober.
func (w *world) run(t *testing.T, bomb string) finished {
	t.Helper()
	adapter := fmt.Sprintf("/adapter/escape -mark %s -secrets %s -sights %s -hosts %s -port %d -abstract %s -sockets %s -victim %d -setuid %s",
		w.mark, strings.Join(w.secrets, ","), strings.Join(w.sights, ","), strings.Join(w.hosts, ","), w.port, w.mark,
		strings.Join(w.sockets, ","), w.victim.Process.Pid, w.setuid)
	if bomb != "" {
		adapter += " -bomb " + bomb
	}
	scenario, lease := "clock-jump-client", "1s" // its worker has a page that other processes execute
	if bomb != "" {
		scenario, lease = "baseline", "3s" // for a bomb to go off in
	}
	args := []string{"run", "--json", "--scenario", scenario, "--backend", "redis", "--clients", "2", "--lease", lease,
		"--runtime", w.runtime, "--out", w.out, "--adapter", adapter, "--adapter-files", w.files}
	cmd := exec.Command(w.program, args...)
	cmd.Dir, cmd.Env = w.dir, append(os.Environ(), "HOME="+w.home, "TMPDIR="+w.dir)
	cmd.SysProcAttr = w.credential()
	cmd.ExtraFiles = w.carried(t) // who starts dlmtest may have left a file open
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	timer := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Signal(syscall.SIGTERM) })
	defer timer.Stop()
	_ = cmd.Run() // the exit code is looked at
	f := finished{runner: cmd, code: cmd.ProcessState.ExitCode(), stderr: said.String()}
	for line := range bytes.Lines(out.Bytes()) {
		var event struct {
			Event, Dir string
			Result     json.RawMessage
		}
		if json.Unmarshal(line, &event) == nil && event.Event == "result" {
			f.dir = event.Dir
			if err := json.Unmarshal(event.Result, &f.result); err != nil {
				t.Fatal(err)
			}
		}
	}
	if f.dir == "" {
		t.Fatalf("no result; exit %d\n%s\n%s", f.code, out.String(), said.String())
	}
	return f
}

// probes are the names of all, by the prober itself.
func (w *world) probes(t *testing.T) []string {
	out, err := exec.Command(filepath.Join(w.files, "escape"), "list").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(out))
}

// findings reads the logs of the clients.
func findings(t *testing.T, dir string) map[string]map[string]escape {
	t.Helper()
	logs, _ := filepath.Glob(filepath.Join(dir, "logs", "client-*.log"))
	found := map[string]map[string]escape{}
	for _, path := range logs {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]escape{}
		for line := range strings.Lines(string(text)) {
			var e escape
			if _, text, ok := strings.Cut(line, "escape: {"); ok && json.Unmarshal([]byte("{"+text), &e) == nil {
				all[e.Probe] = e
			}
		}
		found[strings.TrimSuffix(filepath.Base(path), ".log")] = all
	}
	return found
}

// leastMemory watches how much less memory the machine has until the returned function is called.
func leastMemory() func() uint64 {
	begin, stop, least := freeMemory(), make(chan bool), make(chan uint64)
	go func() {
		low := begin
		for {
			select {
			case <-stop:
				least <- low
				return
			case <-time.After(20 * time.Millisecond):
				low = min(low, freeMemory())
			}
		}
	}()
	return func() uint64 { close(stop); return begin - <-least }
}

func freeMemory() uint64 {
	text, _ := os.ReadFile("/proc/meminfo")
	fields := strings.Fields(string(text))
	at := slices.Index(fields, "MemAvailable:")
	if at < 0 {
		return 0
	}
	kilobytes, _ := strconv.ParseUint(fields[at+1], 10, 64) // the kernel wrote it
	return kilobytes << 10
}
