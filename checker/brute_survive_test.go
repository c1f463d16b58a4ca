package checker

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// survived is the definition: at each instant of the fault, and next to it, a majority of the servers stands together, and
// a client that the fault cuts off from some of them is served.
func (b brute) survived(f *trace.Fault, node string) bool {
	p := b.r.Setup.Promise
	server := slices.Contains(b.r.Setup.Servers, f.Target)
	kills := f.Kind == "kill" || f.Kind == "crash"
	bears := kills && p.Survives == history.Restart ||
		p.Survives != "" && slices.Contains([]string{"pause", "partition", "disk-stall"}, f.Kind)
	if !bears || f.Begin < 0 || p.Session && !p.Leased || !server && (f.Target != node || len(f.Cut) == 0) {
		return false
	}
	for t := f.From - 1; t <= min(f.To, 20); t++ {
		stands, _ := b.servedAt("nobody", t)
		served, runs := b.servedAt(node, t)
		if !stands || node != "" && !(served && runs) {
			return false
		}
	}
	return true
}

func TestSurvivedAgrees(t *testing.T) {
	bothWays(t, 5, func(t *rapid.T) bool {
		r := faulted(t)
		r.Setup.Promise.Survives = rapid.SampledFrom([]history.Survival{"", history.Absence, history.Restart}).Draw(t, "survives")
		r.Setup.Promise.Session, r.Setup.Promise.Leased = rapid.Bool().Draw(t, "session"), rapid.Bool().Draw(t, "leased")
		some := false
		for _, f := range r.Faults {
			for _, node := range []string{"", "c0", "c1", "x"} {
				is := r.survived(f, node)
				if want := (brute{r}).survived(f, node); is != want {
					t.Fatalf("%+v for %q: %v, want %v", f, node, is, want)
				}
				some = some || is
			}
		}
		return some
	})
}
