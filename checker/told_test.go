package checker

import (
	"os"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/history"
)

// An update that was seen to be missing twice was lost once.
func TestLostUpdateIsCountedOnce(t *testing.T) {
	file, err := os.Open("testdata/no-lost-update/unfenced/violated-unread.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	setup, ops, err := history.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, again := range []int{18, 19, 20} { // the read that missed it
		op := ops[again]
		op.Index, op.Time, op.Mono = len(ops), op.Time+20*ms, op.Mono+20*ms
		ops = append(ops, op)
	}
	r := Judge(setup, ops)
	p := r.Property("no-lost-update/unfenced")
	if want := "1 of 2 acknowledged updates was lost in the unfenced copy."; p.Reason != want || len(p.Violations) != 2 {
		t.Errorf("%d violations, %q, want %q", len(p.Violations), p.Reason, want)
	}
}

// Where several waited in turn, no one of them waited for all the time that is told.
func TestWhoWaitedInTurn(t *testing.T) {
	for _, c := range []struct{ second, says string }{
		{"client-3", "client-2 and client-3, always one of them, waited for"},
		{"client-2", "client-2 waited for"},
	} {
		b := newBuilder()
		b.session1(0, "client-1", 1)
		for _, w := range []struct {
			node     string
			from, to int64
		}{{"client-2", sec, 4 * sec}, {c.second, 4*sec + ms, 8 * sec}} {
			b.op(w.from, w.node, history.Invoke, history.Acquire, "k")
			b.op(w.to, w.node, history.Fail, history.Acquire, "k")
		}
		b.final(9 * sec)
		setup, ops := b.done()
		r := Judge(setup, ops)
		p := r.Property("deadlock-freedom")
		if len(p.Violations) != 1 || !strings.HasPrefix(p.Violations[0].Message, c.says) {
			t.Errorf("%+v, want %q", p.Violations, c.says)
		}
	}
}
