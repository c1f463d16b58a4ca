package vdso

import (
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
	_ "unsafe" // for linkname

	"golang.org/x/sys/unix"
)

// Reading is what a program reads on its clocks, all in ns.
type Reading struct {
	Monotonic int64 `json:"monotonic"` // through the vDSO
	Realtime  int64 `json:"realtime"`

	// The same by system calls, which no vDSO bends, just before and just after.
	RawMonotonic [2]int64 `json:"raw_monotonic"`
	RawRealtime  [2]int64 `json:"raw_realtime"`
}

// Read reads the clocks of this process.
func Read() Reading {
	var r Reading
	r.RawMonotonic[0], r.RawRealtime[0] = read(unix.CLOCK_MONOTONIC), read(unix.CLOCK_REALTIME)
	r.Monotonic, r.Realtime = nanotime(), time.Now().UnixNano()
	r.RawRealtime[1], r.RawMonotonic[1] = read(unix.CLOCK_REALTIME), read(unix.CLOCK_MONOTONIC)
	return r
}

// nanotime is CLOCK_MONOTONIC through the vDSO. The time package tells only
// differences; runtime keeps this name for those who need the reading.
//
//go:linkname nanotime runtime.nanotime
func nanotime() int64

// Offsets returns how far the program's clocks are from the true ones.
func (r Reading) Offsets() (monotonic, realtime time.Duration) {
	mid := func(v [2]int64) int64 { return v[0] + (v[1]-v[0])/2 }
	return time.Duration(r.Monotonic - mid(r.RawMonotonic)), time.Duration(r.Realtime - mid(r.RawRealtime))
}

// Check returns an error unless the program's clocks are bent as b says. It allows
// no error at all: Line and the stubs do the same arithmetic.
func (r Reading) Check(b Bend) error {
	if low, high := b.Monotonic.At(r.RawMonotonic[0]), b.Monotonic.At(r.RawMonotonic[1]); r.Monotonic < low || r.Monotonic > high {
		return fmt.Errorf("clock: MONOTONIC reads %d and not %d to %d", r.Monotonic, low, high)
	}
	if low, high := b.Realtime.At(r.RawRealtime[0]), b.Realtime.At(r.RawRealtime[1]); r.Realtime < low || r.Realtime > high {
		return fmt.Errorf("clock: REALTIME reads %d and not %d to %d", r.Realtime, low, high)
	}
	return nil
}

// Report writes a Reading as one line of JSON: the body of the hidden command that
// Probe runs.
func Report(w io.Writer) error { return json.NewEncoder(w).Encode(Read()) }

// Probe starts cmd, a program that calls Report, in the same way as the victim, and
// returns its reading after checking it against what is in force. It proves that the
// page bends programs in this container; that the victim is bent, its own answers and
// Attached tell. The program is not followed: one that ends while its threads are
// born may leave a thread that its tracer never hears of, and is then never reaped.
//
// sealed, unless nil, calls start with cmd made the call of a helper that executes it.
func (p *Page) Probe(cmd *exec.Cmd, sealed func(start func() error) error) (Reading, error) {
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	execs := 2
	if sealed == nil {
		execs, sealed = 1, func(start func() error) error { return start() }
	}
	var process *Process
	err := sealed(func() (err error) { process, err = start(cmd, p, execs); return err })
	if err != nil {
		if process != nil {
			_ = process.Wait() // the error says more
		}
		return Reading{}, err
	}
	if err := process.Wait(); err != nil {
		return Reading{}, fmt.Errorf("clock: probe %s: %w: %s", cmd.Path, err, errs.String())
	}
	var r Reading
	if err := json.Unmarshal([]byte(out.String()), &r); err != nil {
		return Reading{}, fmt.Errorf("clock: probe %s says %q: %w", cmd.Path, out.String(), err)
	}
	return r, r.Check(p.Bend())
}
