package cli

import (
	"fmt"
	"testing"
	"time"
)

// lossyBackends are what baseline-lossy is measured on, with the fsync policies that
// write: Redis keeps nothing on its disk by default.
var lossyBackends = [][]string{{"redis", "always"}, {"redis", "everysec"}, {"redlock", "always"}, {"redis-replicated", "always"},
	{"etcd", ""}, {"zookeeper", ""}, {"postgres", ""}}

// BenchmarkLossy runs the baseline with the servers' data on a plain folder and on the
// file system that can lose it, in turn: once as it is, where clients mostly wait for
// their own work, and once with no work between, where the server's disk decides.
// -benchtime says how many rounds: 3x. The medians are printed.
func BenchmarkLossy(b *testing.B) {
	type rates struct{ grants, writes []float64 }
	figures := map[string]*rates{}
	for b.Loop() {
		for _, backend := range lossyBackends {
			for _, pace := range []string{"", "fast"} {
				for _, disk := range []string{"plain", "lossy"} {
					f := figures[fmt.Sprint(backend, pace, disk)]
					if f == nil {
						f = &rates{}
						figures[fmt.Sprint(backend, pace, disk)] = f
					}
					grants, writes := ratesOf(b, backend, pace, disk)
					f.grants, f.writes = append(f.grants, grants), append(f.writes, writes)
					fmt.Printf("%-17s %-9s %-5s %-5s %6.1f grants/s, load average %s\n", backend[0], backend[1], pace, disk, grants, loadAverage())
				}
			}
		}
	}
	fmt.Printf("\nmedians of %d, load average %s\n%-17s %-9s %-9s %9s %9s %7s %9s %9s %7s\n", b.N, loadAverage(),
		"backend", "fsync", "workload", "grants/s", "lossy", "ratio", "writes/s", "lossy", "ratio")
	for _, backend := range lossyBackends {
		for _, pace := range []string{"", "fast"} {
			plain, lossy := figures[fmt.Sprint(backend, pace, "plain")], figures[fmt.Sprint(backend, pace, "lossy")]
			g, gl, w, wl := middle(plain.grants), middle(lossy.grants), middle(plain.writes), middle(lossy.writes)
			name := "baseline"
			if pace != "" {
				name = "no pause"
			}
			fmt.Printf("%-17s %-9s %-9s %9.1f %9.1f %6.0f%% %9.1f %9.1f %6.0f%%\n", backend[0], backend[1], name, g, gl, 100*gl/g, w, wl, 100*wl/w)
		}
	}
}

// ratesOf runs once and returns grants and writes per second of the load.
func ratesOf(b *testing.B, backend []string, pace, disk string) (grants, writes float64) {
	b.Helper()
	work, lossy := "work: 20ms\nthink: 10ms", ""
	if pace != "" {
		work = "work: 0s\nthink: 0s"
	}
	if disk == "lossy" {
		lossy = "\ndisk: lossy"
	}
	text := `name: rates
title: The baseline, on a plain folder or on the lossy file system
about: A measurement.
workload: guarded-write
clients: 5
lease: 2s
duration: 3 lease
after: 0s
` + work + lossy + "\n"
	args := []string{"--scenario", writeFile(b, "rates.yaml", text), "--backend", backend[0]}
	if backend[1] != "" {
		args = append(args, "--fsync", backend[1])
	}
	f := runScenario(b, args...)
	// With no pause a client asks again before the next one has seen its grant, which is
	// too little contention for a verdict, and enough for a measurement.
	if f.code != exitHolds && f.code != exitInconclusive {
		b.Fatalf("exit %d: %+v", f.code, f.result)
	}
	load := 6 * time.Second // three leases
	return float64(f.result.Counts.Grants) / load.Seconds(), float64(f.result.Counts.Writes) / load.Seconds()
}

func middle(all []float64) float64 {
	took := make([]time.Duration, len(all))
	for i, x := range all {
		took[i] = time.Duration(x * 1e6)
	}
	return float64(median(took)) / 1e6
}
