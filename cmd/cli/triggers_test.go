package cli

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/checker"
)

// triggered are the scenarios whose triggers are compared with chance, each with the
// property that it is about. The random schedule of the same faults is in testdata,
// and goes on for the given time.
var triggered = []struct {
	scenario, property string
	random             time.Duration
}{
	{"gc-pause", "mutual-exclusion", 20 * time.Second},
	{"clock-jump", "lease-exclusion", 20 * time.Second},
	{"crash-amnesia", "lease-exclusion", 30 * time.Second},
}

// BenchmarkTriggers prints how long it takes to the first violation on redlock with
// triggers, and with the same faults at random moments at the same rate. -benchtime
// says with how many seeds: 20x. Runs are made two at a time, one of each kind, so
// that both meet the same machine. RUNTIME=local runs without Docker.
func BenchmarkTriggers(b *testing.B) {
	fmt.Printf("\n%-14s %6s %12s %12s  %s\n", "redlock", "seed", "triggered", "random", "load average")
	for _, c := range triggered {
		b.Run(c.scenario, func(b *testing.B) {
			path, err := filepath.Abs(filepath.Join("testdata", "random", c.scenario+".yaml"))
			if err != nil {
				b.Fatal(err)
			}
			var took [2][]time.Duration // to the violation; random runs without one are missing
			seeds := 0
			for b.Loop() {
				seeds++
				var first [2]time.Duration
				var wait sync.WaitGroup
				for i, scenario := range []string{c.scenario, path} {
					wait.Go(func() { first[i] = firstOf(b, scenario, c.property, seeds) })
				}
				wait.Wait()
				for i, d := range first {
					if d > 0 {
						took[i] = append(took[i], d)
					}
				}
				fmt.Printf("%-14s %6d %12s %12s  %s\n", c.scenario, seeds, orNone(first[0]), orNone(first[1]), loadAverage())
			}
			compare(c.scenario, took, seeds, c.random)
			b.ReportMetric(medianOf(took[0], seeds).Seconds(), "triggered-s")
		})
	}
}

// firstOf runs a scenario on redlock and returns the time from the first grant to
// the first violation of a property; 0: it was not violated.
func firstOf(b *testing.B, scenario, property string, seed int) time.Duration {
	args := []string{"--scenario", scenario, "--backend", "redlock", "--seed", strconv.Itoa(seed), "--oracle", "off"}
	if where := os.Getenv("RUNTIME"); where != "" {
		args = append(args, "--runtime", where)
	}
	return firstIn(runScenario(b, args...).result, property)
}

// firstIn is the time from the first grant to the first certain violation of a property.
func firstIn(r checker.Result, property string) time.Duration {
	earliest, wanted := int64(math.MaxInt64), int64(math.MaxInt64)
	for _, p := range r.Properties {
		for _, v := range p.Violations {
			earliest = min(earliest, v.At)
			if p.Name == property && !v.Possible {
				wanted = min(wanted, v.At)
			}
		}
	}
	if wanted == math.MaxInt64 {
		return 0
	}
	return time.Duration(wanted - (earliest - r.FirstViolation))
}

func orNone(d time.Duration) string {
	if d == 0 {
		return "none"
	}
	return seconds(d)
}

// compare prints medians over all seeds. A run without a violation counts as longer
// than every other, so that a median may lie beyond the end of the runs: then only a
// least ratio is known.
func compare(scenario string, took [2][]time.Duration, seeds int, random time.Duration) {
	for i, kind := range []string{"triggered", "random"} {
		text := "beyond the end"
		if m := medianOf(took[i], seeds); m < never {
			text = seconds(m)
		}
		fmt.Printf("%s, %s: %d of %d runs had a violation; median of all %s; of those with one: %s\n",
			scenario, kind, len(took[i]), seeds, text, spread(took[i]))
	}
	with, without, word := medianOf(took[0], seeds), medianOf(took[1], seeds), ""
	if without == never {
		without, word = random, "at least "
	}
	if with < never {
		fmt.Printf("%s: random / triggered at the median: %s%.1f\n", scenario, word, without.Seconds()/with.Seconds())
	}
}

// never is longer than every run.
const never = 1000 * time.Hour

// medianOf is the upper median of n runs, of which those beyond the given ones had no
// violation: they count as never.
func medianOf(took []time.Duration, n int) time.Duration {
	all := slices.Sorted(slices.Values(took))
	for len(all) < n {
		all = append(all, never)
	}
	return all[n/2]
}
