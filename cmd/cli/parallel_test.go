package cli

import (
	"fmt"
	"strings"
	"testing"
)

// More runs at a time than the machine takes are refused, with the reason.
func TestParallelHasABound(t *testing.T) {
	most, why := mostParallel()
	if most < 1 || why == "" {
		t.Fatalf("%d, %q", most, why)
	}
	for n, ok := range map[int]bool{0: false, 1: true, most: true, most + 1: false, 1 << 40: false} {
		if err := parallelWithin(n); (err == nil) != ok || n > most && !strings.Contains(err.Error(), why) {
			t.Errorf("%d: %v", n, err)
		}
	}
	many := fmt.Sprint(most + 1)
	for _, args := range [][]string{{"run", "--scenario", "baseline", "--backend", "redis", "--parallel", many},
		{"selftest", "--parallel", many}, {"gate", "--parallel", many}} {
		_, err := command(args...)
		if exitWith(err) != exitUsage || !strings.Contains(err.Error(), "at most") {
			t.Errorf("%v: %v", args, err)
		}
	}
}
