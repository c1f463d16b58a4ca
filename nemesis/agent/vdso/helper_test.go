package vdso

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// The test binary plays the programs whose clocks are bent: they need nothing of C.
const roleVar = "VDSO_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVar) {
	case "":
		os.Exit(m.Run())
	case "report":
		exitOn(Report(os.Stdout))
	case "reader": // a reading for each line of stdin
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			exitOn(Report(os.Stdout))
		}
	case "spin":
		exitOn(spin())
	case "cost":
		fmt.Println(cost())
	}
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// spin reads MONOTONIC on every processor, against one shared latest reading, until
// stdin ends, and fails when it ever goes back.
func spin() error {
	var latest, back, reads atomic.Int64
	var stop atomic.Bool
	done := make(chan struct{})
	workers := runtime.NumCPU()
	for range workers {
		go func() {
			for n := int64(1); ; n++ {
				if stop.Load() {
					reads.Add(n)
					done <- struct{}{}
					return
				}
				before := latest.Load() // a reading that was complete before the next one begins
				now := nanotime()
				if now < before {
					back.Store(max(back.Load(), before-now))
				}
				for now > before && !latest.CompareAndSwap(before, now) {
					before = latest.Load()
				}
			}
		}()
	}
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	stop.Store(true)
	for range workers {
		<-done
	}
	if ns := back.Load(); ns > 0 {
		return fmt.Errorf("MONOTONIC went back by %d ns in %d readings", ns, reads.Load())
	}
	fmt.Println(reads.Load())
	return nil
}

// cost returns how many ns one clock reading takes.
func cost() float64 {
	const n = 200_000
	best := time.Duration(1 << 62)
	for range 5 {
		begin := read(4) // MONOTONIC_RAW: not bent
		for range n {
			nanotime()
		}
		best = min(best, time.Duration(read(4)-begin))
	}
	return float64(best) / n
}

// role returns a command that runs this binary as a helper.
func role(name string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), roleVar+"="+name)
	return cmd
}

func newPage(t *testing.T) *Page {
	t.Helper()
	p, err := NewPage()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func set(t *testing.T, p *Page, s Skew) Bend {
	t.Helper()
	b, err := p.Set(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// output runs a program under p to its end and returns what it printed.
func output(t *testing.T, p *Page, cmd *exec.Cmd) string {
	t.Helper()
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	process, err := Start(cmd, p)
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Wait(); err != nil {
		t.Fatalf("%v: %v: %s", cmd.Args, err, errs.String())
	}
	if err := process.Settle(); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out.String())
}

// reader is a helper that is asked for readings.
type reader struct {
	t       *testing.T
	process *Process
	in      *os.File
	out     *bufio.Reader
}

func startReader(t *testing.T, p *Page, cmd *exec.Cmd) *reader {
	t.Helper()
	inR, inW, err1 := os.Pipe()
	outR, outW, err2 := os.Pipe()
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inR, outW, os.Stderr
	process, err := Start(cmd, p)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = inR.Close(), outW.Close()
	t.Cleanup(func() {
		_ = inW.Close()
		if err := process.Wait(); err != nil {
			t.Error(err)
		}
		_ = outR.Close()
	})
	return &reader{t, process, inW, bufio.NewReader(outR)}
}

func (r *reader) read() Reading {
	r.t.Helper()
	_, _ = r.in.WriteString("\n")
	line, err := r.out.ReadBytes('\n')
	if err != nil {
		r.t.Fatal(err)
	}
	var got Reading
	if err := json.Unmarshal(line, &got); err != nil {
		r.t.Fatalf("%q: %v", line, err)
	}
	return got
}
