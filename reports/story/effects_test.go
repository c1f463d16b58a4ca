package story

import (
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
)

// chargedTwice is a history in which a zombie charges an order a second time.
func chargedTwice() (history.Setup, []history.Op) {
	setup := history.Setup{Promise: history.Promise{Backend: "redis", Leased: true, Token: true}, Lease: 1e9, Keys: []string{"k"},
		Clients: []string{"client-1", "client-2"}, Use: history.Use{Name: history.Payment}}
	var ops []history.Op
	add := func(at int64, node string, process int, typ history.Type, f history.F, owner string, token int64) *history.Op {
		ops = append(ops, history.Op{Index: len(ops), Time: 1e12 + at*1e6, Mono: 1e12 + at*1e6, Node: node, Process: process, Type: typ, F: f, Key: "k", Owner: owner, Token: token})
		return &ops[len(ops)-1]
	}
	grant := func(at int64, node string, process int, owner string, token int64) {
		add(at, node, process, history.Invoke, history.Acquire, "", 0)
		ok := add(at+1, node, process, history.OK, history.Acquire, owner, token)
		ok.Sent, ok.Lease, ok.Deadline = 1e12+at*1e6, 1e9, 1e12+at*1e6+1e9
	}
	charge := func(at int64, node string, process int, owner, value string, token int64, again string) {
		invoke := add(at, node, process, history.Invoke, history.Effect, owner, token)
		invoke.Value, invoke.Unfenced, invoke.Fenced = value, &history.Copy{Value: "charge order 1"}, &history.Copy{Value: "charge order 1"}
		note := add(at+1, "", 0, history.Note, history.Happened, owner, token)
		note.Value, note.Unfenced = value, &history.Copy{Value: "charge order 1", Accepted: true}
		note.Fenced = &history.Copy{Value: "charge order 1", Accepted: again == "", Previous: again}
		add(at+2, node, process, history.OK, history.Effect, owner, token).Value = value
	}
	grant(0, "client-1", 1, "a", 1)
	grant(1100, "client-2", 2, "b", 2)
	charge(1110, "client-2", 2, "b", "client-2/e1", 2, "")
	charge(1500, "client-1", 1, "a", "client-1/e1", 1, "client-2/e1")
	return setup, ops
}

// What was done in the world is told with the fence and without, and the sentence of the
// violation ends the story.
func TestEffectsAreTold(t *testing.T) {
	setup, ops := chargedTwice()
	if err := history.Validate(setup, ops); err != nil {
		t.Fatal(err)
	}
	result := checker.Judge(setup, ops)
	p := result.Property("charged-once/unfenced")
	if p == nil || len(p.Violations) != 1 {
		t.Fatalf("%+v", p)
	}
	steps := Of(setup, ops, p.Violations[0])
	var text []string
	for _, s := range steps {
		text = append(text, s.Who+" "+s.What)
	}
	told := strings.Join(text, "\n")
	for _, want := range []string{
		"client-2 asks: charge order 1, done with the fence and without.",
		`client-1 is a zombie ("k" was granted to client-2 at 1.101 s) and asks: charge order 1, done without a fence; charge order 1, not again (client-2/e1 did it) with one.`,
		"judge " + p.Violations[0].Message,
	} {
		if !strings.Contains(told, want) {
			t.Errorf("no %q in\n%s", want, told)
		}
	}
	for _, a := range Accounts(ops, result) {
		if a.What == "charged-once/unfenced" {
			return
		}
	}
	t.Error("it is in no account")
}
