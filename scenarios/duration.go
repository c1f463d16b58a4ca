package scenarios

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"time"

	"go.yaml.in/yaml/v4"
)

// Duration is a length of time, fixed ("20ms") or in leases ("1.5 lease"), so
// that a scenario keeps its meaning when the lease is changed. One of the two
// fields is zero.
type Duration struct {
	Fixed  time.Duration
	Leases float64
}

// The largest durations that make sense, which also keep Of from overflowing.
const (
	maxFixed  = 24 * time.Hour
	maxLeases = 1000
)

var leases = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?) leases?$`)

// ParseDuration reads what String writes: "20ms", "2s", "1 lease", "1.5 lease".
// "leases" is understood too. Neither kind may be negative.
func ParseDuration(text string) (Duration, error) {
	if m := leases.FindStringSubmatch(text); m != nil {
		n, err := strconv.ParseFloat(m[1], 64)
		if err != nil || n > maxLeases {
			return Duration{}, fmt.Errorf("%q is more than %d leases", text, maxLeases)
		}
		return Duration{Leases: n}, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return Duration{}, fmt.Errorf("%q is not a duration: want one such as 20ms, 2s or 1.5 lease", text)
	}
	if d < 0 || d > maxFixed {
		return Duration{}, fmt.Errorf("%q is not between 0s and %s", text, maxFixed)
	}
	return Duration{Fixed: d}, nil
}

// Of is the duration under the given lease.
func (d Duration) Of(lease time.Duration) time.Duration {
	return d.Fixed + time.Duration(math.Round(d.Leases*float64(lease)))
}

// IsZero says that the duration is zero under every lease.
func (d Duration) IsZero() bool { return d == Duration{} }

// String writes what ParseDuration reads.
func (d Duration) String() string {
	if d.Leases != 0 {
		return strconv.FormatFloat(d.Leases, 'f', -1, 64) + " lease"
	}
	return d.Fixed.String()
}

// MarshalYAML writes the duration as String does.
func (d Duration) MarshalYAML() (any, error) { return d.String(), nil }

// UnmarshalYAML reads what ParseDuration reads.
func (d *Duration) UnmarshalYAML(node *yaml.Node) (err error) {
	if node.Kind != yaml.ScalarNode {
		return fmt.Errorf("want a duration such as 20ms, 2s or 1.5 lease, not a list or a map")
	}
	*d, err = ParseDuration(node.Value)
	return err
}
