package checker

import (
	"fmt"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
)

// rough draws a history of one key in which leases and tokens mostly are what they
// should be, clients are told of losses and killed, and servers fail. Each session
// is a process of its own. Times are in ms, of which many are equal where the grain
// is coarse.
func rough(t *rapid.T) (history.Setup, []history.Op) {
	d := roughly{t: t, grain: rapid.SampledFrom([]int64{1, 5}).Draw(t, "grain")}
	setup := history.Setup{
		Promise: history.Promise{Leased: true, Token: true, Order: true, Session: true, Bound: 5e6},
		Lease:   100e6, Keys: []string{"k"}, Clients: []string{"c1", "c2", "c3"}, Servers: []string{"s1", "s2", "s3"},
	}
	for i := range d.int("sessions", 1, 7) {
		d.session(int64(i+1), d.coarse(int64(i*d.int("gap", 0, 90))))
	}
	for i := range d.int("faults", 0, 3) {
		kind := rapid.SampledFrom([]string{"kill", "kill", "kill", "crash", "pause", "clock", "reset"}).Draw(t, "kind")
		from := int64(d.int("from", 1, 400))
		note := history.FaultNote{ID: i + 1, Kind: kind, Target: rapid.SampledFrom([]string{"c1", "c2", "c3", "s1"}).Draw(t, "target")}
		if len(d.granted) > 0 && d.int("holder", 0, 1) == 0 {
			ok := rapid.SampledFrom(d.granted).Draw(t, "of")
			note.Target, from = ok.Node, ok.Time/ms+int64(d.int("after", 1, 90))
		}
		from = d.coarse(from)
		long := max(d.coarse(int64(d.int("length", 1, 60))), 1)
		for j, phase := range []history.Phase{history.Begin, history.Observed, history.Heal} {
			if phase == history.Observed && d.int("missed", 0, 9) == 0 {
				continue
			}
			op := d.op(from+int64(j)*long, note.Target, 0, history.Note, history.Fault)
			note.Phase = phase
			fault := note
			op.Fault = &fault
		}
	}
	for i := range d.int("stops", 0, 3) {
		d.op(d.coarse(int64(d.int("stop", 100, 500))), fmt.Sprintf("c%d", i+1), 0, history.Note, history.Stop)
	}
	history.Sort(d.ops)
	if err := history.Validate(setup, d.ops); err != nil {
		t.Fatal(err)
	}
	return setup, d.ops
}

type roughly struct {
	t     *rapid.T
	ops   []history.Op
	grain int64 // all times are multiples of it

	granted []history.Op
}

func (d *roughly) int(name string, from, to int) int { return rapid.IntRange(from, to).Draw(d.t, name) }

func (d *roughly) coarse(at int64) int64 { return at - at%d.grain }

// deadline is that of a lease since sent, or later by what clocks leave open.
func (d *roughly) deadline(sent int64) int64 { return (sent+100+int64(d.int("long", 0, 1)))*ms + ahead }

func (d *roughly) op(at int64, node string, process int, typ history.Type, f history.F) *history.Op {
	d.ops = append(d.ops, history.Op{Time: at * ms, Mono: at*ms + ahead, Node: node, Process: process, Type: typ, F: f, Key: "k"})
	return &d.ops[len(d.ops)-1]
}

// session is one acquire, and what its holder is told afterwards.
func (d *roughly) session(i, at int64) {
	node, process, owner := fmt.Sprintf("c%d", d.int("client", 1, 3)), int(i), fmt.Sprint(i)
	later := func(most int) int64 { at += d.coarse(int64(d.int("later", 1, most))); return at }
	d.op(later(60), node, process, history.Invoke, history.Acquire)
	sent := later(200)
	outcome := rapid.SampledFrom([]history.Type{history.OK, history.OK, history.OK, history.OK, history.OK, history.Fail, history.Info, ""}).Draw(d.t, "outcome")
	if outcome == "" {
		return // it never returns
	}
	ok := d.op(later(3), node, process, outcome, history.Acquire)
	if ok.Owner = owner; outcome != history.OK {
		return
	}
	ok.Token, ok.Sent, ok.Lease, ok.Deadline = i+int64(d.int("place", 0, 2)), sent*ms, 100*ms, d.deadline(sent)
	d.granted = append(d.granted, *ok)
	for range d.int("steps", 0, 2) {
		switch d.int("step", 0, 3) {
		case 0:
			d.op(later(80), node, 0, history.Note, history.Lost).Owner = owner
		case 1:
			d.op(later(30), node, 0, history.Note, history.Suspended).Owner = owner
		default:
			sent := later(60)
			d.op(sent, node, process+100, history.Invoke, history.Extend).Owner = owner
			outcome := rapid.SampledFrom([]history.Type{history.OK, history.OK, history.Fail, history.Info}).Draw(d.t, "renewal")
			done := d.op(later(3), node, process+100, outcome, history.Extend)
			done.Owner = owner
			if outcome == history.Info {
				return
			}
			done.Sent, done.Lease, done.Deadline = sent*ms, 100*ms, d.deadline(sent)
		}
	}
}
