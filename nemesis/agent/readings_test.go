package agent

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/nemesis/agent/vdso"
)

// TestReadings: the clocks of a server are noted before a fault bends them, as bent,
// every now and then meanwhile, and after the heal. One that is not bent shows that.
func TestReadings(t *testing.T) {
	const step = 30 * time.Second
	for _, lie := range []bool{false, true} {
		r := startAgent(t)
		if m := r.do(Command{Do: Start, Child: &Child{Argv: []string{"sleep", "60"}, Bend: true}}); m.Error != "" {
			t.Fatal(m.Error)
		}
		arm := Arm{Fault: 1, Kind: "clock", Max: time.Minute, Lie: lie, Params: Params{Skew: &vdso.Skew{Step: step}}}
		if m := r.do(Command{Do: Inject, Arm: &arm}); m.Error != "" {
			t.Fatal(m.Error)
		}
		bent := step
		if lie {
			bent = 0
		}
		truth := int64(0)
		next := func(what string, want time.Duration) {
			op := reading(r)
			if truth == 0 {
				truth = op.Real - op.Time
			}
			if off := time.Duration(op.Real - op.Time - truth); (off-want).Abs() > time.Second || op.Mono == 0 {
				t.Errorf("lie %v, %s: REALTIME is off by %v, want %v", lie, what, off, want)
			}
		}
		next("before", 0)
		next("at once", bent)
		next("a while later", bent)
		if m := r.do(Command{Do: Heal, Fault: 1}); m.Error != "" {
			t.Fatal(m.Error)
		}
		for { // readings that were due before the heal
			op := reading(r)
			if off := time.Duration(op.Real - op.Time - truth); off.Abs() < time.Second {
				break
			}
		}
	}
}

// reading waits for the next one.
func reading(r *remote) (op history.Op) {
	r.t.Helper()
	r.until(func(m Message) bool {
		op = history.Op{}
		return m.Op != nil && json.Unmarshal(m.Op, &op) == nil && op.F == history.Clock
	})
	return op
}
