package vdso

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// expect checks a program's reading exactly, and its offsets roughly, so that a
// mistake which Line and the stubs share is seen too.
func expect(t *testing.T, got Reading, b Bend, mono, real time.Duration) {
	t.Helper()
	if err := got.Check(b); err != nil {
		t.Error(err)
	}
	const slack = 3 * time.Millisecond
	m, r := got.Offsets()
	if (m-mono).Abs() > slack || (r-real).Abs() > slack {
		t.Errorf("%+v: offsets %v and %v, want %v and %v", b.Skew, m, r, mono, real)
	}
}

func TestStepAndReset(t *testing.T) {
	p := newPage(t)
	r := startReader(t, p, role("reader"))
	for _, step := range []time.Duration{0, time.Minute, -time.Hour, 30 * 365 * 24 * time.Hour, 0} {
		b := set(t, p, Skew{Step: step})
		expect(t, r.read(), b, 0, step)
	}
	set(t, p, Skew{Step: time.Minute})
	b := set(t, p, Skew{Step: time.Second, Relative: true})
	expect(t, r.read(), b, 0, 61*time.Second)
	if _, err := p.Set(Skew{Step: -90 * 365 * 24 * time.Hour}); err == nil {
		t.Error("REALTIME was put before 1970")
	}
	expect(t, r.read(), b, 0, 61*time.Second)
}

func TestDriftBendsBothAndResetKeepsMonotonic(t *testing.T) {
	p := newPage(t)
	r := startReader(t, p, role("reader"))
	for _, drift := range []float64{0.5, -0.5} {
		before, _ := r.read().Offsets()
		b := set(t, p, Skew{Drift: drift})
		time.Sleep(200 * time.Millisecond)
		got := r.read()
		gained := time.Duration(drift * float64(got.RawMonotonic[0]-b.At))
		expect(t, got, b, before+gained, gained)
		b = set(t, p, Skew{})
		kept, _ := r.read().Offsets()
		time.Sleep(50 * time.Millisecond)
		expect(t, r.read(), b, kept, 0)
	}
}

func TestSlewEndsWhereItShould(t *testing.T) {
	p := newPage(t)
	r := startReader(t, p, role("reader"))
	for _, slew := range []time.Duration{100 * time.Millisecond, -100 * time.Millisecond} {
		b := set(t, p, Skew{Slew: slew, SlewRate: 0.5})
		time.Sleep(100 * time.Millisecond)
		got := r.read()
		half := time.Duration(got.RawMonotonic[0]-b.At) / 2
		if slew < 0 {
			half = -half
		}
		expect(t, got, b, 0, half)
		time.Sleep(150 * time.Millisecond)
		expect(t, r.read(), b, 0, slew)
	}
}

// MONOTONIC must not go back, on any processor, whatever is set and how fast.
func TestMonotonicNeverGoesBack(t *testing.T) {
	p := newPage(t)
	cmd := role("spin")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	process, err := Start(cmd, p)
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Settle(); err != nil {
		t.Fatal(err)
	}
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	sets := 0
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); sets++ {
		s := Skew{}
		if random.IntN(4) > 0 {
			s = Skew{Drift: random.Float64()*1.8 - 0.9, Step: time.Duration(random.IntN(2e9) - 1e9), Relative: random.IntN(2) == 0}
		}
		set(t, p, s)
		time.Sleep(time.Duration(random.IntN(100)) * time.Microsecond)
	}
	_ = in.Close()
	if err := process.Wait(); err != nil {
		t.Errorf("seed %d: %v: %s", seed, err, errs.String())
	}
	t.Logf("%d sets, %s readings", sets, strings.TrimSpace(out.String()))
}

func TestOtherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can start a program as another user")
	}
	p := newPage(t)
	b := set(t, p, Skew{Step: time.Minute, Drift: 0.1})
	cmd := role("reader")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	r := startReader(t, p, cmd)
	if err := r.read().Check(b); err != nil {
		t.Error(err)
	}
	b = set(t, p, Skew{Step: -time.Minute}) // it follows later too
	if err := r.read().Check(b); err != nil {
		t.Error(err)
	}
}

func TestProbe(t *testing.T) {
	p := newPage(t)
	set(t, p, Skew{Step: time.Hour, Drift: 0.05})
	if _, err := p.Probe(role("report"), nil); err != nil {
		t.Error(err)
	}
	if _, err := p.Probe(exec.Command("echo", "no reading"), nil); err == nil {
		t.Error("a program that reports nothing was believed")
	}
	if err := Read().Check(p.Bend()); err == nil {
		t.Error("this process was bent, or Check sees nothing")
	}
}

// program is C that reads the clock, and how to read its answer in seconds.
var programs = [][]string{
	{"date", "+%s.%N"},
	{"sh", "-c", "exec date +%s.%N"},
	{"sh", "-c", "true; sh -c 'date +%s.%N'; true"}, // two children deep
	{"env", "-i", "/bin/sh", "-c", "sleep 0.05; /bin/date +%s.%N"},
	{"python3", "-c", "import time; print(time.time())"},
	{"python3", "-c", "import os, time\nif os.fork() == 0: print(time.time())\nelse: os.wait()"},
	{"python3", "-c", "import threading, time\nt = threading.Thread(target=lambda: print(time.time())); t.start(); t.join()"},
	{"python3", "-c", "import subprocess; print(subprocess.check_output(['date', '+%s.%N'], close_fds=True).decode())"},
	{"perl", "-e", "print time"},
}

func TestPrograms(t *testing.T) {
	p := newPage(t)
	const step = 1000 * time.Hour
	set(t, p, Skew{Step: step})
	for _, argv := range programs {
		t.Run(strings.Join(argv, " "), func(t *testing.T) {
			if _, err := exec.LookPath(argv[0]); err != nil {
				t.Skip(err)
			}
			got, err := strconv.ParseFloat(output(t, p, exec.Command(argv[0], argv[1:]...)), 64)
			if err != nil {
				t.Fatal(err)
			}
			if off := got - float64(time.Now().Add(step).Unix()); off < -5 || off > 5 {
				t.Errorf("off by %v s from where it should be", off)
			}
		})
	}
}

// Every function of the vDSO, each clock, null pointers and bad ones.
const everyCall = `
import ctypes, os, sys
libc = ctypes.CDLL(None)
class TS(ctypes.Structure): _fields_ = [("s", ctypes.c_long), ("n", ctypes.c_long)]
def now(clock):
    ts = TS(); assert libc.clock_gettime(clock, ctypes.byref(ts)) == 0, clock; return ts.s + ts.n / 1e9
def raw(clock):
    ts = TS(); assert libc.syscall(228 if os.uname().machine == "x86_64" else 113, clock, ctypes.byref(ts)) == 0; return ts.s + ts.n / 1e9
for clock in 0, 1, 2, 3, 4, 5, 6, 7, 11:
    off = now(clock) - raw(clock)
    want = 5000 if clock in (0, 5) else 0
    assert abs(off - want) < 0.5, (clock, off)
tv, tz = TS(), TS()
libc.time.restype = ctypes.c_long
t = ctypes.c_long()
assert abs(libc.time(None) - raw(0) - 5000) < 2
assert libc.time(ctypes.byref(t)) == t.value and abs(t.value - raw(0) - 5000) < 2
assert libc.gettimeofday(ctypes.byref(tv), None) == 0 and abs(tv.s + tv.n / 1e6 - raw(0) - 5000) < 0.5 and tv.n < 10**6
assert libc.gettimeofday(ctypes.byref(tv), ctypes.byref(tz)) == 0 and tz.s == 0 and abs(tv.s - raw(0) - 5000) < 2
assert libc.gettimeofday(None, None) == 0
assert libc.clock_gettime(99, ctypes.byref(tv)) != 0
assert libc.clock_gettime(-2, ctypes.byref(tv)) == 0 and tv.s < 100   # this process's own CPU time
assert libc.clock_getres(0, ctypes.byref(tv)) == 0
assert os.getrandom(8) and os.sched_getaffinity(0)
print("ok")
`

func TestEveryCall(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip(err)
	}
	p := newPage(t)
	set(t, p, Skew{Step: 5000 * time.Second})
	if got := output(t, p, exec.Command("python3", "-c", everyCall)); got != "ok" {
		t.Error(got)
	}
}

// The kernel's clock, and this process's, are as they were.
func TestHostClockUnaffected(t *testing.T) {
	offset := func() int64 { return read(unix.CLOCK_REALTIME) - read(unix.CLOCK_MONOTONIC_RAW) }
	before := offset()
	p := newPage(t)
	set(t, p, Skew{Step: time.Hour, Drift: 0.5})
	for range 3 {
		output(t, p, exec.Command("date"))
	}
	if moved := time.Duration(offset() - before); moved.Abs() > 5*time.Millisecond {
		t.Errorf("the host's REALTIME moved by %v", moved)
	}
	date, err := exec.Command("date", "+%s").Output()
	if err != nil || strings.TrimSpace(string(date)) < fmt.Sprint(time.Now().Unix()-2) || strings.TrimSpace(string(date)) > fmt.Sprint(time.Now().Unix()) {
		t.Errorf("date without a page says %s, %v", date, err)
	}
}

func TestAttachedCountsProcesses(t *testing.T) {
	p := newPage(t)
	r := startReader(t, p, exec.Command("sh", "-c", "sleep 100 & echo; read x; kill $!; exit 0"))
	_, _ = r.out.ReadString('\n')
	time.Sleep(100 * time.Millisecond)
	if n, err := p.Attached(); n != 2 || err != nil {
		t.Errorf("%d attached, %v; want sh and sleep", n, err)
	}
	if r.process.Execs() != 2 {
		t.Errorf("%d execs, want 2", r.process.Execs())
	}
}

func TestCost(t *testing.T) {
	plain, err := func() (string, error) { b, err := role("cost").Output(); return strings.TrimSpace(string(b)), err }()
	if err != nil {
		t.Fatal(err)
	}
	p := newPage(t)
	bent := output(t, p, role("cost"))
	t.Logf("one clock reading of a Go program: %s ns without a page, %s ns with one", plain, bent)
}

// Nobody is let write the page, its owner neither: only who has all rights could.
func TestPageIsReadOnly(t *testing.T) {
	p, err := NewPage()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var d unix.SysvShmDesc
	if _, err := unix.SysvShmCtl(p.id, unix.IPC_STAT, &d); err != nil {
		t.Fatal(err)
	}
	if d.Perm.Mode&0o777 != 0o555 {
		t.Errorf("the page has the mode %o", d.Perm.Mode)
	}
	if _, err := p.Set(Skew{Step: time.Second}); err != nil {
		t.Errorf("the agent itself: %v", err)
	}
}
