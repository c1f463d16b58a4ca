package scenarios_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/scenarios"
)

func TestParseDuration(t *testing.T) {
	const lease = 2 * time.Second
	for text, want := range map[string]time.Duration{
		"0s": 0, "0": 0, "20ms": 20 * time.Millisecond, "2s": 2 * time.Second, "1m30s": 90 * time.Second,
		"1 lease": lease, "1.5 lease": 3 * time.Second, "4 leases": 8 * time.Second, "0.1 lease": 200 * time.Millisecond,
	} {
		d, err := scenarios.ParseDuration(text)
		if err != nil || d.Of(lease) != want {
			t.Errorf("%q: %v, %v; want %v", text, d.Of(lease), err, want)
		}
	}
	for text, want := range map[string]string{
		"": "not a duration", "2": "not a duration", "lease": "not a duration", "-1 lease": "not a duration",
		"1.5lease": "not a duration", "NaN lease": "not a duration", "1e9 lease": "not a duration",
		"1001 lease": "more than 1000 leases", "-1s": "not between", "25h": "not between",
	} {
		if d, err := scenarios.ParseDuration(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v; want an error with %q", text, d, err, want)
		}
	}
}

func TestDurationProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := scenarios.Duration{Fixed: time.Duration(rapid.Int64Range(0, int64(24*time.Hour)).Draw(t, "fixed"))}
		if rapid.Bool().Draw(t, "in leases") {
			d = scenarios.Duration{Leases: rapid.Float64Range(0, 1000).Draw(t, "leases")}
		}
		back, err := scenarios.ParseDuration(d.String())
		if err != nil || back != d {
			t.Fatalf("%+v → %s → %+v, %v", d, d, back, err)
		}
		lease := time.Duration(rapid.Int64Range(int64(100*time.Millisecond), int64(10*time.Minute)).Draw(t, "lease"))
		if d.Of(lease) < 0 || d.Of(lease) > d.Of(2*lease) {
			t.Errorf("%s of %s is %s", d, lease, d.Of(lease))
		}
	})
}
