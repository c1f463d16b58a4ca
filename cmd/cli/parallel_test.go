package cli

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/internal/settings"
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

// Where nobody says how many runs go on at a time the machine decides; what was given stays, and a shard, which must be
// split alike on every machine, goes by none.
func TestParallelIsChosen(t *testing.T) {
	for name, c := range map[string]struct {
		f     runFlags
		given bool
		want  int
		bears bool
	}{
		"given":   {runFlags{parallel: 3}, true, 3, false},
		"a shard": {runFlags{shard: "1/2"}, false, 1, false},
		"local":   {runFlags{Settings: settings.Settings{Runtime: "local"}}, false, matrixParallel("local"), true},
		"docker":  {runFlags{Settings: settings.Settings{Runtime: "docker"}}, false, matrixParallel("docker"), true},
	} {
		c.f.chooseParallel(c.given)
		if most, _ := mostParallel(); c.f.parallel != c.want || c.f.bears != c.bears || c.want > most {
			t.Errorf("%s: %d, %v", name, c.f.parallel, c.f.bears)
		}
	}
	if matrixParallel("docker") < 1 || matrixParallel("local") < matrixParallel("docker") {
		t.Errorf("%d local, %d in Docker", matrixParallel("local"), matrixParallel("docker"))
	}
}

// A hunt makes more runs at a time where its trials wait for longer, and fewer where several containers start.
func TestHuntParallel(t *testing.T) {
	most, _ := mostParallel()
	for _, c := range []struct {
		backend, where string
		perCore        int
	}{
		{"redis", "local", 3}, {"redis", "docker", 3}, {"redlock", "local", 3}, {"redlock", "docker", 2}, {"etcd", "local", 4}, {"etcd", "docker", 2},
	} {
		if got, want := huntParallel(t.Context(), c.backend, c.where), min(most, c.perCore*runtime.NumCPU()); got != want {
			t.Errorf("%s, %s: %d, want %d", c.backend, c.where, got, want)
		}
	}
}
