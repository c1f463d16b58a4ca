package models

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/history"
)

// TestBusyOwnersAreKept has an owner that is waiting, holds, or has a lease, while
// more owners than are kept come and go; then it goes on by another process.
func TestBusyOwnersAreKept(t *testing.T) {
	for _, c := range []struct{ name, model, before, after, err string }{
		{"holds", "mutex", "1 acquire o=x\n1 ok acquire o=x", "2 release o=x\n2 ok release o=x", ""},
		{"holds, and has a token", "fenced-mutex", "1 acquire o=x\n1 ok acquire o=x t=1", "2 release o=x\n2 ok release o=x", ""},
		{"waits", "mutex", "1 acquire o=x", "2 acquire o=x", "x calls acquire while another operation of that owner is pending"},
		{"has a lease", "lease", "1 acquire o=x\n1 ok acquire o=x t=1 l=90000", "2 extend o=x\n2 ok extend o=x l=90000", ""},
		{"has a lease without an end", "lease-untimed", "1 acquire o=x\n1 ok acquire o=x t=1", "2 extend o=x\n2 ok extend o=x", ""},
		{"has a lease without a token", "lease-windows", "1 acquire o=x\n1 ok acquire o=x l=90000", "2 extend o=x\n2 ok extend o=x l=90000\n3 acquire o=z\n3 ok acquire o=z l=90000", "violated"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, _ := Named(c.model)
			d, now := m.New(Options{}), int64(0)
			add := func(e Event) error {
				now++
				e.Time = now
				return d.Add(e)
			}
			for _, e := range script(c.before) {
				if err := add(e); err != nil {
					t.Fatal(err)
				}
			}
			for p := range 2 * idleKept {
				for _, typ := range []history.Type{history.Invoke, history.Fail} {
					if err := add(Event{Process: 10 + p, Type: typ, F: Acquire, Owner: fmt.Sprint("y", p)}); err != nil {
						t.Fatal(err)
					}
				}
			}
			var err error
			for _, e := range script(c.after) {
				if err == nil {
					err = add(e)
				}
			}
			r := d.End()
			if len(r.Unjudged) > 0 {
				err = errors.New(r.Unjudged[0])
			}
			switch {
			case c.err == "violated":
				if err != nil || r.Verdict != Violated || !strings.Contains(r.Reason, "z was granted") {
					t.Errorf("%v, %s: %s", err, r.Verdict, r.Reason)
				}
			case c.err != "":
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("%v, want %s", err, c.err)
				}
			case err != nil || r.Verdict != Holds:
				t.Errorf("%v, %s: %s", err, r.Verdict, r.Reason)
			}
		})
	}
}
