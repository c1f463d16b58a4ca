package scenarios_test

import (
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/internal/near"
	"github.com/dlmtest/dlmtest/scenarios"
)

// good is the file that each bad one differs from in one place.
const good = `name: good
title: A good one
about: Nothing.
workload: guarded-write
clients: 5
keys: 1
lease: 2s
work: 20ms
think: 10ms
wait: 4 lease
duration: 3 lease
after: 1 lease
faults:
  - fault: pause
    target: holder
    on: acquired
    at: 0s
    count: 1
    for: {until: write-accepted, min: 1 lease, max: 4 lease}
expect: {contention: 1}
expected:
  redis: {mutual-exclusion: holds}
`

// edit replaces pieces of the good file: old, new, old, new, …
func edit(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(good) }

var bad = []struct{ file, want string }{
	{"", "line 1: the file is empty"},
	{"[]", "line 1: want a map of fields, not a list"},
	{"hello", `line 1: want a map of fields, not a text`},
	{edit("lease: 2s", "leese: 2s"), "line 7: unknown field \"leese\"; did you mean \"lease\"?"},
	{edit("    target", "    targte"), `line 15: unknown field "targte"; did you mean "target"?`},
	{edit("min: 1 lease", "xyz: 1 lease"), `line 19: unknown field "xyz"; there are max, min, until`},
	{edit("contention", "contentoin"), `line 20: unknown field "contentoin"; did you mean "contention"?`},
	{edit("guarded-write", "own-key", "keys: 1", "keys: 4"), `line 6: keys: 4 is too few for own-key; want one a client, 5`},
	{edit("keys: 1", "clients: 1"), `line 6: field "clients" stands twice, first on line 5`},
	{edit("clients: 5", "clients: five"), `line 5: clients: "five" is not a whole number`},
	{edit("clients: 5", "clients:"), "line 5: clients: has no value"},
	{edit("clients: 5", "clients: [5]"), "line 5: clients: want a single value, not a list"},
	{edit("clients: 5", "clients: 0"), "line 5: clients: 0 is not between 1 and 100"},
	{edit("clients: 5", "clients: 1"), "line 20: expect.contention: one client alone meets no contention"},
	{edit("keys: 1", "renew: maybe"), `line 6: renew: "maybe" is not true or false`},
	{edit("lease: 2s", "lease: 2x"), `line 7: lease: "2x" is not a duration: want one such as 20ms, 2s or 1.5 lease`},
	{edit("lease: 2s", "lease: 2 lease"), "line 7: lease: 2 lease is not a fixed time between 100ms and 10m"},
	{edit("lease: 2s\n", ""), "line 1: lease: 0s is not a fixed time between 100ms and 10m"},
	{edit("    count: 1", "    back: true"), "line 18: faults[0].back: it has a client start again that a kill has ended; a server is started again in any case"},
	{edit("fault: pause", "fault: kill", "target: holder", "target: minority", "    count: 1", "    back: true"),
		"line 18: faults[0].back: it has a client start again that a kill has ended; a server is started again in any case"},
	{edit("duration: 3 lease", "duration: 0s"), "line 11: duration: must be longer than 0s"},
	{edit("duration: 3 lease", "duration: -3s"), `line 11: duration: "-3s" is not between 0s and 24h0m0s`},
	{edit("work: 20ms", "work: {a: 1}"), "line 8: work: want a single value, not a map"},
	{edit("guarded-write", "guarded-writ"), `line 4: workload: unknown workload "guarded-writ"; did you mean "guarded-write"?`},
	{edit("fault: pause", "fault: pauze"), `line 14: faults[0].fault: unknown fault "pauze"; did you mean "pause"?`},
	{edit("on: acquired", "on: aquired"), `line 16: faults[0].on: unknown trigger "aquired"; did you mean "acquired"?`},
	{edit("on: acquired", "on: at"), `line 16: faults[0].on: the target "holder" needs a trigger that a holder passes, such as before-write`},
	{edit("target: holder", "target: holdr"), `line 15: faults[0].target: unknown target "holdr"; did you mean "holder"?`},
	{edit("target: holder", "target: Redis_1"), `line 15: faults[0].target: unknown target "Redis_1"; there are a-client, a-follower, a-quorum-member-of-the-holder, a-server, a-waiter, all, bridge, clients, halves, holder, leader, majority, minority, reached, resource, ring, servers`},
	{edit("    target: holder\n", ""), `line 14: faults[0].target: unknown target ""; there are a-client, a-follower, a-quorum-member-of-the-holder, a-server, a-waiter, all, bridge, clients, halves, holder, leader, majority, minority, reached, resource, ring, servers`},
	{edit("count: 1", "count: 0"), "line 18: faults[0].count: 0 is not between 1 and 1000"},
	{edit("write-accepted", "write-acepted"), `line 19: faults[0].for.until: unknown condition "write-acepted"; did you mean "write-accepted"?`},
	{edit("min: 1 lease", "min: 5 lease"), "line 19: faults[0].for: min 5 lease is longer than max 4 lease"},
	{edit("until: write-accepted, ", ""), "line 19: faults[0].for: min and max differ and nothing ends it in between; say until what"},
	{edit("for: {until: write-accepted, min: 1 lease, max: 4 lease}", "for: soon"), `line 19: faults[0].for: "soon" is not a duration: want one such as 20ms, 2s or 1.5 lease`},
	{edit("faults:\n  - ", "faults:\n    "), "line 14: faults: want a list, each item after a dash, not a map"},
	{edit("mutual-exclusion", "mutal-exclusion"), `line 22: expected.redis.mutal-exclusion: unknown property "mutal-exclusion"; did you mean "mutual-exclusion"?`},
	{edit("mutual-exclusion", "linearizable"), `line 22: expected.redis.linearizable: unknown property "linearizable"` + near.Hint("linearizable", checker.Names())}, // nothing judges it
	{edit("holds", "hold"), `line 22: expected.redis.mutual-exclusion: unknown verdict "hold"; did you mean "holds"?`},
	{edit("holds", "{verdict: green}"), `line 22: expected.redis.mutual-exclusion.verdict: unknown verdict "green"; there are holds, may be unknown, may be violated, n/a, unknown, violated`},
	{edit("  redis:", "  Redis!:"), `line 22: expected.Redis!: "Redis!" is no name of a backend`},
	{edit("name: good", "name: Not Good"), `line 1: name: "Not Good" is not lower-case words joined by dashes, such as gc-pause`},
	{edit("name: good", "name: &a good"), "line 1: anchors and aliases are not supported: a scenario is plain data"},
	{edit("keys: 1", "backends: redis"), `line 6: backends: want a list, each item after a dash, not "redis"`},
	{edit("keys: 1", "backends: [redis, 'Bad one']"), `line 6: backends[1]: "Bad one" is neither the name of a backend nor a glob such as broken/*`},
	{edit("keys: 1", "backends: ['red[is']"), `line 6: backends[0]: "red[is" is neither the name of a backend nor a glob such as broken/*`},
	{edit("about: Nothing.", "about: ''"), "line 3: about: must say what the scenario shows"},
	{edit("lease: 2s", "leese: 2s", "clients: 5", "clients: x"), "line 5: clients: \"x\" is not a whole number\nbad.yaml: line 7: unknown field \"leese\"; did you mean \"lease\"?"},
}

func TestBad(t *testing.T) {
	if _, err := scenarios.Parse("good.yaml", []byte(good)); err != nil {
		t.Fatal(err)
	}
	for _, c := range bad {
		_, err := scenarios.Parse("bad.yaml", []byte(c.file))
		if err == nil {
			t.Errorf("no error, want %s", c.want)
		} else if err.Error() != "bad.yaml: "+c.want {
			t.Errorf("got  %s\nwant bad.yaml: %s", err, c.want)
		}
	}
}

// The words of a syntax error are the library's; the line must be there.
func TestBadSyntax(t *testing.T) {
	for _, file := range []string{edit("clients: 5", "clients: [5"), edit("keys: 1", "\tkeys: 1"), good + "---\n" + good} {
		_, err := scenarios.Parse("bad.yaml", []byte(file))
		if err == nil || !strings.HasPrefix(err.Error(), "bad.yaml: line ") {
			t.Errorf("%v", err)
		}
	}
}
