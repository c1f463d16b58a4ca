package scenarios

import (
	"fmt"
	"time"

	"github.com/dlmtest/dlmtest/internal/near"
	"github.com/dlmtest/dlmtest/nemesis"
)

// Random is a schedule that is drawn from the run's seed, beside the faults that are
// written.
type Random struct {
	// Every is the mean time from the start of one fault to the start of the next;
	// the times themselves are drawn exponentially.
	Every Duration `yaml:"every"`
	// For is the length of the schedule, from the begin of the load.
	For Duration `yaml:"for"`
	// Mix is what is drawn from. Each item is a fault with a Weight; a length with a
	// min and a max that nothing ends in between is drawn evenly.
	Mix []Fault `yaml:"mix"`
}

// After is what a fault comes after: the name of another one, which must have
// healed ("after: cut"), or just begun ("after: {fault: cut, when: begun}").
type After struct {
	Fault string `yaml:"fault" jsonschema:"required"`
	When  string `yaml:"when" words:"moment"` // begun or healed
}

// Whens are what of one fault another may come after.
var Whens = nemesis.Words{
	nemesis.WhenBegun:  "it is in force on all its victims, for the first time",
	nemesis.WhenHealed: "it is over on all its victims, for the last time",
}

// mix checks a random schedule.
func (v *validator) mix(r Random) {
	if r.Every.IsZero() && r.For.IsZero() && len(r.Mix) == 0 {
		return
	}
	v.positive("random.every", r.Every)
	v.positive("random.for", r.For)
	if len(r.Mix) == 0 {
		v.problem("random.mix", "has no fault to draw")
	}
	if r.Every.Fixed > 0 && r.Every.Fixed < minEvery || r.Every.Leases > 0 && r.Every.Leases < 0.01 {
		v.problem("random.every", "%s is too short; want at least %s, or 0.01 lease", r.Every, minEvery)
	}
	if e, all := r.Every, r.For; (e.Leases == 0) == (all.Leases == 0) && all.Of(time.Second) > mostFaults*e.Of(time.Second) {
		v.problem("random.for", "is more than %d times random.every", mostFaults)
	}
	for i, f := range r.Mix {
		path := fmt.Sprintf("random.mix[%d]", i)
		if !f.At.IsZero() || f.Name != "" || f.After != (After{}) {
			v.problem(path, "at, name and after are not for a mix, whose times are drawn")
		}
		if f.Optional || f.Stream != 0 {
			v.problem(path, "optional and stream are not for a mix, whose faults are optional and have streams of their own")
		}
		if f.On == "every" {
			v.problem(path+".on", "every is not for a mix; say how often with random.every")
		}
		v.bounds(path, f)
		f.At, f.On, f.Weight = Duration{}, gateOrAt(f.On), 0
		if f.For.Until == "" && !v.upsideDown(f.For) {
			f.For.Min = f.For.Max // drawn in between
		}
		v.fault(path, f)
	}
}

// Bounds of a schedule: mean gaps shorter than minEvery, or more faults than
// mostFaults, and none of them would be seen.
const (
	minEvery   = 5 * time.Millisecond
	mostFaults = 1000
)

func gateOrAt(on string) string {
	if on == "every" {
		return "at"
	}
	return on
}

// upsideDown says that a span's shortest is longer than its longest, as far as that
// can be told before the lease is known.
func (v *validator) upsideDown(s Span) bool {
	a, b := s.Min, s.Max
	return (a.Leases == 0) == (b.Leases == 0) && a.Of(time.Second) > b.Of(time.Second)
}

// times checks the fields that say when a written fault comes.
func (v *validator) times(path string, f Fault) {
	if f.Weight != 0 {
		v.problem(path+".weight", "is for the faults of random.mix")
	}
	switch {
	case f.On == "every" && f.At.IsZero():
		v.problem(path+".at", `the trigger "every" needs the time from one to the next, such as at: 0.5 lease`)
	case f.On == "every" && !f.Every.IsZero():
		v.problem(path+".every", `the trigger "every" has its time in at; every counts from the end of one to the next`)
	case f.On == "every" && f.Count < 2:
		v.problem(path+".count", `the trigger "every" needs a count of 2 or more`)
	case f.On == "every" && v.upsideDown(Span{Min: f.For.Max, Max: f.At}):
		v.problem(path+".for", "one lasts %s, longer than the %s to the next", f.For.Max, f.At)
	}
}

// order checks the names of the faults, and what comes after what.
func (v *validator) order(faults []Fault) {
	byName := map[string]int{}
	var names []string
	for i, f := range faults {
		if f.Name == "" {
			continue
		}
		path := fmt.Sprintf("faults[%d].name", i)
		if first, twice := byName[f.Name]; twice {
			v.problem(path, "%q is the name of faults[%d] too", f.Name, first)
			continue
		}
		if !namePattern.MatchString(f.Name) {
			v.problem(path, "%q is not lower-case words joined by dashes", f.Name)
		}
		byName[f.Name] = i
		names = append(names, f.Name)
	}
	for i, f := range faults {
		path := fmt.Sprintf("faults[%d].after", i)
		if f.After == (After{}) {
			continue
		}
		v.word(path+".when", "moment", f.After.When)
		if _, known := byName[f.After.Fault]; !known {
			v.problem(path, "no fault has the name %q%s", f.After.Fault, hint(f.After.Fault, names))
			continue
		}
		if loop := cycle(faults, byName, i); loop != "" {
			v.problem(path, "comes after itself: %s", loop)
		}
	}
}

func hint(name string, names []string) string {
	if len(names) == 0 {
		return "; give one a name: field"
	}
	return near.Hint(name, names)
}

// cycle follows what faults[start] comes after; a way back to it is returned in words.
func cycle(faults []Fault, byName map[string]int, start int) string {
	way := faults[start].Name
	for i, steps := start, 0; steps < len(faults); steps++ {
		next, known := byName[faults[i].After.Fault]
		if faults[i].After.Fault == "" || !known {
			return ""
		}
		way += " after " + faults[next].Name
		if next == start {
			return way
		}
		i = next
	}
	return "" // into a circle that it is no part of: its own faults say so
}
