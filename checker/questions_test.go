package checker

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/checker/models"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// What Porcupine is asked, word by word.

// asked writes questions as text, times in ms since the begin.
func asked(qs []question) string {
	var text strings.Builder
	for _, q := range qs {
		fmt.Fprintf(&text, "%s", q.model)
		if q.options.Init != "" {
			fmt.Fprintf(&text, " from %s", q.options.Init)
		}
		for _, op := range q.ops {
			until := "..."
			if op.Return != math.MaxInt {
				until = fmt.Sprint(op.Return)
			}
			fmt.Fprintf(&text, "; %s %s", op.F, op.Type)
			for _, part := range []string{op.Owner, op.Old, op.Value} {
				if part != "" {
					text.WriteString(" " + part)
				}
			}
			if op.Token != 0 {
				fmt.Fprintf(&text, " #%d", op.Token)
			}
			fmt.Fprintf(&text, " %d-%s", op.Call, until)
		}
		text.WriteString("\n")
	}
	return text.String()
}

// plain numbers operations and makes a run of them, in which time is their place.
func plain(setup history.Setup, ops ...history.Op) *run {
	for i := range ops {
		ops[i].Index, ops[i].Time = i, int64(i)
	}
	return newRun(setup, ops)
}

func grantOps(process int, key, owner string, token int64) []history.Op {
	return []history.Op{
		{Process: process, Type: history.Invoke, F: history.Acquire, Key: key},
		{Process: process, Type: history.OK, F: history.Acquire, Key: key, Owner: owner, Token: token},
	}
}

func logged(f history.F, owner, value, base, previous string, accepted bool) history.Op {
	return history.Op{Type: history.Note, F: f, Key: "k", Owner: owner, Value: value, Fenced: &history.Copy{Base: base, Previous: previous, Accepted: accepted}}
}

// The fenced register is told of each grant that the copy has heard of, once and in order.
func TestAskFenced(t *testing.T) {
	ops := append(grantOps(1, "k", "a", 1), grantOps(2, "k", "b", 2)...)
	ops = append(append(ops, grantOps(3, "l", "c", 3)...),
		logged(history.ReadSeen, "a", "", "", "", false), // 6
		logged(history.ReadSeen, "a", "", "", "", false), // nothing new
		logged(history.Apply, "a", "v", "", "", true),    // 8
		history.Op{Type: history.Note, F: history.Apply, Key: "k", Owner: "a", Value: "u", Unfenced: &history.Copy{}},
		logged(history.Apply, "b", "w", "", "", false), // 10
		logged(history.ReadSeen, "b", "", "", "", false),
		logged(history.Apply, "c", "x", "", "", true), // of another key
		logged(history.Apply, "nobody", "y", "", "", true),
		logged(history.ReadSeen, "a", "", "", "", false), // it was superseded
		logged(history.Apply, "b", "z", "", "", true),    // 15
	)
	for on, want := range map[string]string{
		"read":  "fenced-register; write ok 6 #1 6-6; write ok 8 #1 8-8; write fail 10 #2 10-10; write ok 11 #2 11-11; write ok 15 #2 15-15\n",
		"write": "fenced-register; write ok 8 #1 8-8; write fail 10 #2 10-10; write ok 15 #2 15-15\n",
	} {
		r := plain(history.Setup{FenceOn: on}, ops...)
		if got := asked(r.askFenced(r.named("k"))); got != want {
			t.Errorf("fence on %s:\n%swant\n%s", on, got, want)
		}
	}
}

// A register is told of each accepted write of a copy, and of those that were
// acknowledged and stand in no log: they were made before what overwrote them.
func TestAskUpdates(t *testing.T) {
	write := func(process int, typ history.Type, key, value string, accepted bool) history.Op {
		op := history.Op{Process: process, Type: typ, F: history.Write, Key: key, Value: value}
		if typ == history.OK {
			op.Fenced = &history.Copy{Accepted: accepted}
		}
		return op
	}
	r := plain(history.Setup{},
		write(1, history.Invoke, "k", "first", true), // the log tells of it: see 8
		write(2, history.Invoke, "k", "lost", true),
		write(3, history.Invoke, "k", "late", true),
		write(4, history.Invoke, "k", "refused", true),
		write(5, history.Invoke, "k", "unknown", true),
		write(6, history.Invoke, "l", "elsewhere", true),
		write(7, history.Invoke, "k", "open", true),
		write(8, history.Invoke, "k", "unfenced", true),
		logged(history.Apply, "", "first", "init", "init", true), // 8
		write(2, history.OK, "k", "lost", true),                  // 9
		logged(history.Apply, "", "refused", "first", "first", false),
		logged(history.Apply, "", "second", "first", "late", true), // 11
		history.Op{Type: history.Note, F: history.Apply, Key: "k", Value: "u", Unfenced: &history.Copy{Accepted: true}},
		logged(history.ReadSeen, "", "", "", "", true),
		write(3, history.OK, "k", "late", true), // 14: overwritten at 11
		write(4, history.OK, "k", "refused", false),
		write(5, history.Info, "k", "unknown", true),
		write(6, history.OK, "l", "elsewhere", true),
		write(1, history.OK, "k", "first", true),
		history.Op{Process: 8, Type: history.OK, F: history.Write, Key: "k", Value: "unfenced"}, // 19: what it said of this copy is not known
	)
	want := "cas-register from init; cas ok init first 8-8; cas ok first second 11-11; write ok lost 1-9; write ok late 2-11; write ok unfenced 7-19\n"
	if got := asked(r.askUpdates(r.named("k"), fencedOf)); got != want {
		t.Errorf("\n%swant\n%s", got, want)
	}
	// A write at the very begin, by which something is to be lost, is one, too.
	r = plain(history.Setup{}, write(1, history.Invoke, "k", "v", true), write(1, history.OK, "k", "v", true))
	if got, want := asked(r.askUpdates(r.named("k"), fencedOf)), "cas-register; write ok v 0-1\n"; got != want {
		t.Errorf("\n%swant\n%s", got, want)
	}
}

// Tokens count where they tell an order; answers of other keys do not.
func TestAskClaims(t *testing.T) {
	for second, want := range map[int64]string{
		2: " #1 0-1; acquire ok b #2 2-3; extend ok a 6-7; release ok b 8-9\n",
		1: " 0-1; acquire ok b 2-3; extend ok a 6-7; release ok b 8-9\n",
	} {
		ops := append(grantOps(1, "k", "a", 1), grantOps(2, "k", "b", second)...)
		ops = append(ops, grantOps(3, "l", "c", 3)...)
		for _, c := range []struct {
			owner string
			f     history.F
			said  history.Type
		}{{"a", history.Extend, history.OK}, {"b", history.Release, history.OK}, {"c", history.Extend, history.OK}, {"a", history.Extend, history.Fail}} {
			process := map[string]int{"a": 1, "b": 2, "c": 3}[c.owner]
			ops = append(ops, history.Op{Process: process, Type: history.Invoke, F: c.f, Key: "k", Owner: c.owner}, history.Op{Process: process, Type: c.said, F: c.f, Key: "k", Owner: c.owner})
		}
		r := plain(history.Setup{}, ops...)
		if got := asked(r.askClaims(r.named("k"))); got != models.Claims+"; acquire ok a"+want {
			t.Errorf("\n%swant\n%s", got, want)
		}
	}
}

// A hold lasts to the last act after the grant, or, read strictly, as long as it is believed.
func TestAskBelief(t *testing.T) {
	for _, c := range []struct {
		strict bool
		grant  trace.Grant
		want   string
	}{
		{false, trace.Grant{LastAct: 0, End: 9}, "release ok a 3-..."},
		{false, trace.Grant{LastAct: 5, End: 9}, "release ok a 3-..."},
		{false, trace.Grant{LastAct: 6, End: 9}, "release ok a 6-..."},
		{true, trace.Grant{LastAct: 6, End: 9}, "release ok a 9-..."},
		{true, trace.Grant{LastAct: 6, End: 2}, "release ok a 3-..."},
		{true, trace.Grant{LastAct: 6, End: trace.Forever}, ""},
	} {
		g := c.grant
		g.Owner, g.Sent, g.OK, g.Token = "a", 3, 5, 7
		r := &run{Trace: &trace.Trace{Setup: history.Setup{Strict: c.strict}}}
		for _, sure := range []bool{false, true} {
			want := "; acquire ok a #7 3-5"
			if c.want != "" {
				want += "; " + c.want
			}
			if want = "mutex" + want + "\n"; sure {
				want += "fenced-" + want
			}
			if got := asked(r.askBelief(&keyLog{Key: &trace.Key{Grants: []*trace.Grant{&g}, Sure: sure}})); got != want {
				t.Errorf("%+v:\n%swant\n%s", c, got, want)
			}
		}
	}
}

// Every time in which a lease was valid is a hold of its own; one for ever is never given back.
func TestAskValidity(t *testing.T) {
	b := newBuilder()
	h := b.grantOf(0, 10*ms, "client-1", 1)
	b.note(300*ms, h, history.Suspended)
	b.note(400*ms, h, history.Resumed)
	b.setup.Promise.Leased = false
	b.grantOf(2*sec, 3*sec, "client-2", 2)
	r := newRun(b.done())
	got := asked(r.askValidity(r.named("k")))
	want := "mutex; acquire ok client-1/1 0 10000000-10000000; release ok client-1/1 0 300000000-...; acquire ok client-1/1 1 400000000-400000000; release ok client-1/1 1 1008000000-...; acquire ok client-2/2 0 3000000000-3000000000\n"
	if got != want {
		t.Errorf("\n%swant\n%s", got, want)
	}
	r.Clock("client-1").Constant = false
	if r.askValidity(r.named("k")) != nil {
		t.Error("asked although a deadline cannot be converted")
	}
}
