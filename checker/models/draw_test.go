package models

import (
	"context"
	"strings"
	"testing"
)

func TestDraw(t *testing.T) {
	self := []string{"/proc/self/exe", "oracle", "child"}
	m := Models[0]
	ops := Ops(m, Options{}, script("1 acquire\n2 acquire\n1 ok acquire\n2 ok acquire"))[0]
	for _, c := range []struct {
		name, model string
		ops         []Op
		self        []string
		err         string // "": none
	}{
		{"a pair", "mutex", ops, self, ""},
		{"no model", "nothing", ops, self, "Porcupine's drawing: gave up: no model nothing"},
		{"no child", "mutex", ops, []string{"/bin/false"}, "Porcupine's drawing: gave up: the oracle ended with exit status 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			page, err := Draw(context.Background(), c.self, c.model, Options{}, c.ops)
			if c.err == "" {
				if err != nil || !strings.Contains(page, "</html>") || !strings.Contains(page, "acquire") {
					t.Errorf("%v, a page of %d bytes", err, len(page))
				}
				return
			}
			if err == nil || !strings.HasPrefix(err.Error(), c.err) || page != "" {
				t.Errorf("error %v, want %s; a page of %d bytes", err, c.err, len(page))
			}
		})
	}
}

// Porcupine is told of the owner whom the answer names.
func TestOpsOfOwnersNamedByTheAnswer(t *testing.T) {
	ops := Ops(Models[0], Options{}, script("1 acquire\n1 ok acquire o=g1\n2 release o=g1\n2 ok release o=g1\n3 acquire\n3 ok acquire"))[0]
	if ops[0].Owner != "g1" || ops[1].Owner != "g1" || ops[2].Owner != "process 3" {
		t.Errorf("%+v", ops)
	}
}

// What never ends is told in the order of the calls.
func TestOpsOfWhatNeverEnds(t *testing.T) {
	var events []Event
	for p := range 50 {
		events = append(events, Event{Process: p, Type: "invoke", F: Acquire})
	}
	for i, op := range Ops(Models[0], Options{}, events)[0] {
		if op.Call != i || op.Return != len(events) {
			t.Errorf("operation %d: %+v", i, op)
		}
	}
}
