package capacity

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestFit(t *testing.T) {
	for _, c := range []struct {
		name               string
		xs, ys             []float64
		slope, start, r2   float64
		error, errorWithin float64
	}{
		{"exact", []float64{0, 1, 2, 3}, []float64{5, 7, 9, 11}, 2, 5, 1, 0, 1e-9},
		{"flat", []float64{0, 1, 2}, []float64{4, 4, 4}, 0, 4, 1, 0, 1e-9},
		{"by the textbook", []float64{1, 2, 3, 4, 5}, []float64{1, 2, 1.3, 3.75, 2.25}, 0.425, 0.785, 0.3929, 0.9706, 1e-3},
	} {
		l := Fit(c.xs, c.ys)
		if math.Abs(l.Slope-c.slope) > 1e-9 || math.Abs(l.Start-c.start) > 1e-9 || math.Abs(l.R2-c.r2) > 1e-3 || math.Abs(l.Error-c.error) > c.errorWithin {
			t.Errorf("%s: %+v", c.name, l)
		}
	}
	for _, xs := range [][]float64{{}, {1}, {1, 2}, {3, 3, 3}} {
		if l := Fit(xs, make([]float64, len(xs))); !math.IsInf(l.Error, 1) {
			t.Errorf("%v has an error of %v", xs, l.Error)
		}
	}
}

// TestFitIsLeast: no line near by leaves less.
func TestFitIsLeast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.Float64Range(-1000, 1000)
		xs, ys := rapid.SliceOfN(number, 3, 10).Draw(t, "xs"), []float64{}
		for range xs {
			ys = append(ys, number.Draw(t, "y"))
		}
		l := Fit(xs, ys)
		if math.IsInf(l.Error, 1) {
			return
		}
		left := func(slope, start float64) (sum float64) {
			for i := range xs {
				d := ys[i] - slope*xs[i] - start
				sum += d * d
			}
			return sum
		}
		best := left(l.Slope, l.Start)
		for _, d := range []float64{-0.1, 0.1} {
			if left(l.Slope+d, l.Start) < best-1e-6*best-1e-6 || left(l.Slope, l.Start+d) < best-1e-6*best-1e-6 {
				t.Fatalf("%+v is not the least of %v, %v", l, xs, ys)
			}
		}
	})
}

// TestErrorCovers: the 95 % interval holds the truth about as often as it says.
func TestErrorCovers(t *testing.T) {
	covered, all := 0, 2000
	noise := uint64(1)
	gauss := func() (sum float64) { // twelve uniform numbers
		for range 12 {
			noise = noise*6364136223846793005 + 1442695040888963407
			sum += float64(noise>>11) / (1 << 53)
		}
		return sum - 6
	}
	for range all {
		var xs, ys []float64
		for x := range 6 {
			xs, ys = append(xs, float64(x)), append(ys, 3*float64(x)+7+gauss())
		}
		if l := Fit(xs, ys); math.Abs(l.Slope-3) <= l.Error {
			covered++
		}
	}
	if share := float64(covered) / float64(all); share < 0.93 || share > 0.97 {
		t.Errorf("the 95 %% interval holds the truth in %.1f %%", 100*share)
	}
}

func TestParse(t *testing.T) {
	status := "Name:\tdlmtest\nRssAnon:\t    9000 kB\nRssShmem:\t  0 kB\nName:\tpostgres\nRssAnon:\t 100 kB\nRssShmem:\t 50 kB\nName:\tpostgres\nRssAnon:\t 20 kB\nRssShmem:\t 60 kB\nName:\tgrep\nRssAnon:\t 7 kB\n"
	if got := Memory(status); got != (120+60)<<10 {
		t.Errorf("memory %d", got)
	}
	dev := "Inter-|   Receive                                                |  Transmit\n face |bytes    packets errs\n    lo:  777 1 0 0 0 0 0 0 777 1 0 0 0 0 0 0\n  eth0: 1000 1 0 0 0 0 0 0 234 1 0 0 0 0 0 0\n"
	if got := Traffic(dev); got != 1234 {
		t.Errorf("traffic %d", got)
	}
	for _, c := range []struct {
		text, name string
		want       float64
		ok         bool
	}{
		{"# Memory\r\nused_memory:1050\r\nused_memory_rss:7\r\n", "used_memory", 1050, true},
		{"# HELP go_x\ngo_x_y 3\ngo_x 1.5e+06\n", "go_x", 1.5e6, true},
		{"zk_version\t3.8\nzk_approximate_data_size\t44\n", "zk_approximate_data_size", 44, true},
		{"zk_approximate_data_size\tmany\n", "zk_approximate_data_size", 0, false},
		{"", "used_memory", 0, false},
	} {
		if got, ok := Own(c.text, c.name); got != c.want || ok != c.ok {
			t.Errorf("%s: %v %v", c.name, got, ok)
		}
	}
}

// FuzzParse: whatever a server prints is read without a panic.
func FuzzParse(f *testing.F) {
	f.Add("used_memory:1\r\n", "used_memory")
	f.Fuzz(func(_ *testing.T, text, name string) {
		_, _ = Own(text, name)
		Memory(text)
		Traffic(text)
	})
}

func sample() *Report {
	r := &Report{Backend: "redis", Version: "7.0.15", Servers: 1, Runtime: "local", Beat: 2, OwnName: "used_memory of INFO", Not: []string{"replicas"}}
	for i := range 6 {
		n := float64(i)
		r.Locks = append(r.Locks, Sample{Locks: i * 1000, Memory: 2e6 + 250e3*n, Own: 1e6 + 200e3*n})
		r.Sessions = append(r.Sessions, Sample{Locks: 5000, Sessions: i * 100, Memory: 4e6 + 2e6*n + 1e5*float64(i%2), Own: 2e6 + 8e3*100*n, Client: 500 + 16000*n, Server: 500 + 16000*n})
	}
	r.Conclude()
	return r
}

func TestReport(t *testing.T) {
	r := sample()
	if len(r.Rows) != 6 {
		t.Fatalf("%+v", r.Rows)
	}
	own := r.Rows[0]
	if math.Abs(own.Line.Slope-200) > 1e-6 || math.Abs(own.Cost-200e6) > 1 || own.Distance != 200 || own.Usual != 200 {
		t.Errorf("%+v", own)
	}
	var b strings.Builder
	if err := r.Text(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"memory a lock, used_memory of INFO\n  200.0 ± 0.0 bytes each (95 %, 6 sizes, R² 1.000)\n  1,000,000 locks: 200 MB ± 0 B; the usual estimate, 200 bytes a lock, says 200 MB\n  extrapolated 200 times",
		"memory a session, used_memory of INFO\n  8000.0 ± 0.0 bytes each",
		"heartbeat of a session, at its client\n  160.0 ± 0.0 bytes/s each", "that is 320 bytes a heartbeat, one each 2.0 s", "100,000 clients: 16.0 MB/s ± 0 B/s; the usual estimate, 64 bytes each 2 s, says 3.20 MB/s", "- replicas",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
}

// TestTooFew: what two sizes cannot tell is left out, and so is infinite error from JSON.
func TestTooFew(t *testing.T) {
	r := sample()
	r.Locks, r.Sessions = r.Locks[:2], nil
	r.Conclude()
	if len(r.Rows) != 0 {
		t.Errorf("%+v", r.Rows)
	}
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
}

func TestUncertain(t *testing.T) {
	r := sample()
	for i := range r.Locks {
		r.Locks[i].Memory = 1e6 + 1e6*float64(i%2)
	}
	r.Conclude()
	if w := r.Rows[1].warning(); !strings.Contains(w, "take more") {
		t.Errorf("%+v: %q", r.Rows[1], w)
	}
}
