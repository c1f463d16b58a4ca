package scenarios_test

import (
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/scenarios"
)

// stormy is a file with a random schedule, and faults that come after each other.
const stormy = `name: stormy
title: A random one
about: Nothing.
workload: guarded-write
clients: 5
lease: 2s
duration: 3 lease
faults:
  - name: first
    fault: pause
    target: a-waiter
    for: 1 lease
  - name: second
    after: first
    fault: pause
    target: a-server
    on: every
    at: 0.5 lease
    count: 3
    for: 0.25 lease
  - name: third
    after: {fault: second, when: begun}
    fault: clock
    target: majority
    clock: {strobe: 200ms, every: 50ms}
    for: 1 lease
random:
  every: 0.5 lease
  for: 5 lease
  mix:
    - weight: 3
      fault: pause
      target: a-client
      for: {min: 0.5 lease, max: 2 lease}
    - {fault: kill, target: a-quorum-member-of-the-holder, on: acquired, for: 1 lease}
`

func TestRandom(t *testing.T) {
	s, err := scenarios.Parse("stormy.yaml", []byte(stormy))
	if err != nil {
		t.Fatal(err)
	}
	if r := s.Random; len(r.Mix) != 2 || r.Mix[0].Weight != 3 || r.For.Of(time.Second) != 5*time.Second || r.Mix[1].On != "acquired" {
		t.Errorf("%+v", r)
	}
	if a, b := s.Faults[1].After, s.Faults[2].After; a.Fault != "first" || a.When != "healed" || b.When != "begun" {
		t.Errorf("%+v, %+v", a, b)
	}
	roundTrip(t, s)
}

func TestBadTimes(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"after: first", "after: frist", `line 14: faults[1].after: no fault has the name "frist"; did you mean "first"?`},
		{"name: second", "name: first", `line 13: faults[1].name: "first" is the name of faults[0] too`},
		{"name: second", "name: Second", `"Second" is not lower-case words joined by dashes`},
		{"    target: a-waiter", "    target: a-waiter\n    after: third", "comes after itself: first after third after second after first"},
		{"when: begun", "when: begn", `line 22: faults[2].after.when: unknown moment "begn"; did you mean "begun"?`},
		{"{fault: second, when: begun}", "third", "comes after itself: third after third"},
		{"    at: 0.5 lease\n", "", `faults[1].at: the trigger "every" needs the time from one to the next`},
		{"    count: 3\n", "", `faults[1].count: the trigger "every" needs a count of 2 or more`},
		{"count: 3", "count: 3\n    every: 1s", `faults[1].every: the trigger "every" has its time in at`},
		{"for: 0.25 lease", "for: 0.75 lease", "faults[1].for: one lasts 0.75 lease, longer than the 0.5 lease to the next"},
		{"target: a-waiter", "target: a-waiter\n    weight: 2", "faults[0].weight: is for the faults of random.mix"},
		{", every: 50ms", "", "faults[2].clock: a strobe needs both"},
		{"every: 50ms", "every: 50ms, step: 1s", "faults[2].clock: a strobe is a clock fault of its own"},
		{"every: 50ms", "every: 1ms", "faults[2].clock.every: 1ms is too short; want at least 5ms"},
		{"  every: 0.5 lease\n", "", "random.every: must be longer than 0s"},
		{"  every: 0.5 lease", "  every: 1ms", "random.every: 1ms is too short"},
		{"for: 5 lease", "for: 1000 lease", "random.for: is more than 1000 times random.every"},
		{"weight: 3", "weight: -3", "random.mix[0].weight: -3 is not between 0 and 1000"},
		{"weight: 3", "at: 1s", "random.mix[0]: at, name and after are not for a mix"},
		{"weight: 3", "on: every", "random.mix[0].on: every is not for a mix"},
		{"weight: 3", "wieght: 3", `unknown field "wieght"; did you mean "weight"?`},
		{"min: 0.5 lease", "min: 3 lease", "random.mix[0].for: min 3 lease is longer than max 2 lease"},
		{"on: acquired, for", "on: waiting, for", "random.mix[1].on: the target \"a-quorum-member-of-the-holder\" needs a trigger that a holder passes"},
		{"fault: kill", "fault: kil", `random.mix[1].fault: unknown fault "kil"; did you mean "kill"?`},
		{"fault: pause\n    target: a-waiter", "fault: crash\n    target: a-waiter", `faults[0].target: crash hits the data folder of a server; "a-waiter" has none`},
		{"fault: pause\n    target: a-waiter", "fault: kill\n    target: resource", "faults[0].target: what was written to the resource is the evidence"},
	} {
		file := strings.Replace(stormy, c.old, c.new, 1)
		if file == stormy {
			t.Fatalf("%q is not in the file", c.old)
		}
		if _, err := scenarios.Parse("bad.yaml", []byte(file)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q for %q: %v\nwant %s", c.new, c.old, err, c.want)
		}
	}
}
