package scenarios

import (
	"fmt"
	"math"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/internal/near"
	"github.com/dlmtest/dlmtest/nemesis"
)

var (
	// namePattern is for names of scenarios, backends and nodes: "gc-pause", "redis-1".
	namePattern = regexp.MustCompile(`^[a-z][a-z0-9]*([-/][a-z0-9]+)*$`)
	digits      = "0123456789"
	// globs turns a glob into a name.
	globs = strings.NewReplacer("*", "x", "?", "x", "[", "", "]", "")
)

// Validate checks what types cannot. Its error is Problems.
func (s *Scenario) Validate() error {
	v := &validator{}
	v.texts(s)
	v.loop(s)
	for i, f := range s.Faults {
		v.bounds(fmt.Sprintf("faults[%d]", i), f)
		v.fault(fmt.Sprintf("faults[%d]", i), f)
		v.times(fmt.Sprintf("faults[%d]", i), f)
	}
	v.order(s.Faults)
	v.mix(s.Random)
	v.backends(s)
	v.expect(s)
	v.expected(s)
	for _, p := range s.Settings.Check() {
		v.problem("settings."+p.Field.YAML, "%q: %s", p.Value, p.Want)
	}
	if len(v.problems) == 0 {
		return nil
	}
	return v.problems
}

type validator struct{ problems Problems }

func (v *validator) problem(path, format string, args ...any) {
	v.problems = append(v.problems, Problem{Path: path, Text: path + ": " + fmt.Sprintf(format, args...)})
}

func (v *validator) between(path string, n, low, high int) {
	if n < low || n > high {
		v.problem(path, "%d is not between %d and %d", n, low, high)
	}
}

// bounds checks the whole numbers of a struct against the bounds in their tags.
func (v *validator) bounds(path string, of any) {
	value := reflect.ValueOf(of)
	for i := range value.NumField() {
		f := value.Type().Field(i)
		low, high := bound(f, "minimum", math.MinInt), bound(f, "maximum", math.MaxInt)
		if f.Type.Kind() != reflect.Int || low == math.MinInt || high == math.MaxInt {
			continue // a bound on one side alone is worded where it is checked
		}
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		v.between(join(path, name), int(value.Field(i).Int()), low, high)
	}
}

// bound is one of the bounds in the tag of a field, which its schema shows, too.
func bound(f reflect.StructField, name string, otherwise int) int {
	for _, part := range strings.Split(f.Tag.Get("jsonschema"), ",") {
		if text, ok := strings.CutPrefix(part, name+"="); ok {
			if n, err := strconv.Atoi(text); err == nil {
				return n
			}
		}
	}
	return otherwise
}

// word checks a word of the vocabulary.
func (v *validator) word(path, kind, word string) {
	if words := Vocabulary[kind]; !slices.Contains(words, word) {
		v.problem(path, "unknown %s %q%s", kind, word, near.Hint(word, words))
	}
}

func (v *validator) positive(path string, d Duration) {
	if d.IsZero() {
		v.problem(path, "must be longer than 0s")
	}
	v.duration(path, d)
}

// duration is for scenarios built in Go; a file's durations were checked when
// they were parsed.
func (v *validator) duration(path string, d Duration) {
	if back, err := ParseDuration(d.String()); err != nil {
		v.problem(path, "%s", err)
	} else if back != d {
		v.problem(path, "%+v is both fixed and in leases; want one of the two", d)
	}
}

func (v *validator) texts(s *Scenario) {
	if !namePattern.MatchString(s.Name) {
		v.problem("name", "%q is not lower-case words joined by dashes, such as gc-pause", s.Name)
	}
	if s.Title == "" || strings.ContainsRune(s.Title, '\n') {
		v.problem("title", "must be one line")
	}
	if strings.TrimSpace(s.About) == "" {
		v.problem("about", "must say what the scenario shows")
	}
}

func (v *validator) loop(s *Scenario) {
	v.word("workload", "workload", s.Workload)
	v.use(s)
	v.bounds("", *s)
	if s.Workload == "own-key" && s.Keys < s.Clients {
		v.problem("keys", "%d is too few for own-key; want one a client, %d", s.Keys, s.Clients)
	}
	if semaphore := s.Workload == "semaphore"; semaphore {
		v.between("permits", s.Permits, 1, 100)
	} else if s.Permits != 0 {
		v.problem("permits", "only the workload semaphore has permits")
	}
	if s.Lease.Leases != 0 || s.Lease.Fixed < 100*time.Millisecond || s.Lease.Fixed > 10*time.Minute {
		v.problem("lease", "%s is not a fixed time between 100ms and 10m", s.Lease)
	}
	if s.Patience != "" {
		v.word("patience", "patience", s.Patience)
	}
	v.duration("work", s.Work)
	v.duration("think", s.Think)
	v.positive("wait", s.Wait)
	v.duration("release-wait", s.ReleaseWait)
	v.positive("duration", s.Duration)
	v.duration("after", s.After)
	if s.Disk != "" && s.Disk != "lossy" {
		v.problem("disk", "%q is not lossy; leave it out for a plain folder", s.Disk)
	}
}

func (v *validator) fault(path string, f Fault) {
	v.word(path+".fault", "fault", f.Fault)
	v.word(path+".on", "trigger", f.On)
	v.target(path+".target", f.Target)
	v.duration(path+".at", f.At)
	v.duration(path+".every", f.Every)
	v.partition(path, f)
	v.clock(path, f)
	v.crash(path, f)
	v.links(path, f)
	v.aim(path, f)
	if f.Fault == "stall-worker" && (f.On == "at" || f.On == "every" || f.Target != "holder") {
		v.problem(path+".on", "stall-worker stops the holder at a checkpoint; want the target holder and a trigger such as before-write")
	}
	if (f.On == "at" || f.On == "every") && f.Target == "holder" && f.When == (When{}) {
		v.problem(path+".on", `the target "holder" needs a trigger that a holder passes, such as before-write`)
	}
	if f.For.Until != "" {
		v.word(path+".for.until", "condition", f.For.Until)
	}
	v.duration(path+".for", f.For.Min)
	v.positive(path+".for", f.For.Max)
	if v.upsideDown(f.For) {
		v.problem(path+".for", "min %s is longer than max %s", f.For.Min, f.For.Max)
	}
	if f.For.Until == "" && f.For.Min != f.For.Max {
		v.problem(path+".for", "min and max differ and nothing ends it in between; say until what")
	}
}

// partition checks the fields that only a partition has.
func (v *validator) partition(path string, f Fault) {
	_, shape := nemesis.Shapes[f.Target]
	switch {
	case f.Fault != "partition" && (shape || f.From != "" || f.Direction != ""):
		v.problem(path+".fault", "from, direction, and the targets %s are for partitions", strings.Join(namesOf(nemesis.Shapes), ", "))
	case f.Fault != "partition":
	case shape && f.From != "":
		v.problem(path+".from", "the shape %q says already who is cut from whom", f.Target)
	case f.From != "":
		v.target(path+".from", f.From)
	}
	if f.Direction != "" && !slices.Contains(Vocabulary["direction"], f.Direction) {
		v.problem(path+".direction", "%q is none of %s", f.Direction, strings.Join(Vocabulary["direction"], ", "))
	}
}

// crash checks the field that only a crash has.
func (v *validator) crash(path string, f Fault) {
	switch {
	case f.Fault != "crash" && f.Mode != "":
		v.problem(path+".mode", "only the fault crash has it")
	case f.Mode != "" && !slices.Contains(Vocabulary["mode"], f.Mode):
		v.problem(path+".mode", "%q is none of %s", f.Mode, strings.Join(Vocabulary["mode"], ", "))
	}
}

// clock checks the field that only a clock fault has.
func (v *validator) clock(path string, f Fault) {
	c := f.Clock
	switch {
	case f.Fault != "clock" && c != (Clock{}):
		v.problem(path+".clock", "only the fault clock has it")
	case f.Fault != "clock":
	case !c.Strobe.IsZero() || !c.Every.IsZero():
		v.strobe(path, c)
	case c.Step.IsZero() && c.Slew.IsZero() && c.Drift == 0:
		v.problem(path+".fault", "clock: say how, such as clock: {step: 2 lease} or clock: {drift: 0.05}")
	case c.Anyway && c.Drift == 0:
		v.problem(path+".clock", "anyway is about drift, and there is none")
	case c.Drift <= -0.9 || c.Drift > 9 || c.SlewRate < 0 || c.SlewRate > 9:
		v.problem(path+".clock", "drift is above -0.9 and at most 9, slew-rate at most 9")
	}
}

// target takes a role, or the name of a node. A word without a digit that is
// near a role is a slip and no node.
func (v *validator) target(path, target string) {
	if _, ok := Targets[target]; ok {
		return
	}
	slip := !strings.ContainsAny(target, digits) && len(near.Nearest(target, namesOf(Targets))) > 0
	if slip || !namePattern.MatchString(target) {
		v.problem(path, "unknown target %q%s", target, near.Hint(target, namesOf(Targets)))
	}
}

func (v *validator) expect(s *Scenario) {
	e := s.Expect
	v.bounds("expect", e)
	if e.Contention > 0 && s.Clients == 1 {
		v.problem("expect.contention", "one client alone meets no contention")
	}
	if len(s.Faults)+len(s.Random.Mix) == 0 && e.Faults > 0 {
		v.problem("expect.faults", "there are no faults to expect")
	}
}

// backends checks names and globs as words; which locks there are, the runner knows.
func (v *validator) backends(s *Scenario) {
	for i, b := range s.Backends {
		_, err := path.Match(b, "")
		if plain := globs.Replace(b); err != nil || !namePattern.MatchString(plain) {
			v.problem(fmt.Sprintf("backends[%d]", i), "%q is neither the name of a backend nor a glob such as broken/*", b)
		}
	}
}

func (v *validator) expected(s *Scenario) {
	for backend, properties := range s.Expected {
		path := join("expected", backend)
		if !namePattern.MatchString(backend) {
			v.problem(path, "%q is no name of a backend", backend)
		}
		for property := range properties {
			if !slices.Contains(Properties, property) {
				v.problem(join(path, property), "unknown property %q%s", property, near.Hint(property, Properties))
			}
		}
	}
}
