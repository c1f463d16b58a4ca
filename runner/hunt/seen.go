package hunt

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/locks"
)

// Seen is what one trial has shown, as far as it says where to look next.
type Seen struct {
	Features []string `json:"features"` // sorted, each once
	// Gap is the smallest time between two beliefs in one key of which the first was not given
	// back, in leases: below 0 they overlap. It is far where there are no such two.
	Gap float64 `json:"gap"`
	// Wait is the longest wait for a key, in leases.
	Wait   float64 `json:"wait"`
	Grants int     `json:"grants"`
}

// far is the gap of a trial in which no key was held twice.
const far = 1000

// See reads a history: who did what after what in which phase of a fault, what was unknown,
// lost, skipped or contradicted, and how near two beliefs came to each other.
func See(setup history.Setup, ops []history.Op, r checker.Result) Seen {
	w := &watcher{setup: setup, features: map[string]bool{}, last: map[string]string{}, faults: map[victim]bool{}}
	for i := range ops {
		w.read(&ops[i])
	}
	t := trace.New(setup, ops)
	s := Seen{Gap: far, Grants: len(t.Grants)}
	lease := float64(max(setup.Lease, 1))
	for _, k := range t.Keys {
		w.tokens(k)
		w.looks(t, k)
		for i := 1; i < len(k.Order); i++ {
			g, h := k.Order[i-1], k.Order[i]
			if g.Believed() && h.Believed() && (g.Until > h.OK || !released(t,
				g)) { // who gives a key back is followed at once
				s.Gap = min(s.Gap, float64(h.OK-g.Until)/lease)
			}
		}
		for _, x := range k.Waits {
			s.Wait = max(s.Wait, float64(min(x.To, t.End)-x.From)/lease)
		}
	}
	s.Gap, s.Wait = math.Round(s.Gap*1000)/1000, math.Round(s.Wait*100)/100
	w.add("gap %s", band(s.Gap))
	w.add("wait %s", band(s.Wait))
	for _, p := range r.Properties {
		if p.Verdict == checker.Violated || p.Verdict == checker.Unknown && len(p.Violations) > 0 {
			w.add("%s %s", p.Name, p.Verdict)
		}
	}
	for f := range w.features {
		s.Features = append(s.Features, f)
	}
	slices.Sort(s.Features)
	return s
}

// released says that the holder himself ended his belief.
func released(t *trace.Trace, g *trace.Grant) bool {
	return g.EndOp >= 0 && t.Ops[g.EndOp].F == history.Release
}

// band is a number by its sign and its power of two.
func band(n float64) string {
	if math.Abs(n) < 1.0/64 {
		return "0"
	}
	return fmt.Sprintf("%+.0f", math.Copysign(1, n)*(math.Floor(math.Log2(math.Abs(n)))+8))
}

// watcher gathers features from the operations one by one.
type watcher struct {
	setup    history.Setup
	features map[string]bool
	last     map[string]string // by client: its last event
	faults   map[victim]bool   // that are at work
}

// victim is a node that suffers a fault.
type victim struct {
	id         int
	kind, node string
}

func (w *watcher) add(format string, args ...any) { w.features[fmt.Sprintf(format, args...)] = true }

// read files one operation.
func (w *watcher) read(op *history.Op) {
	if op.Fault != nil {
		w.fault(*op.Fault)
		return
	}
	client := slices.Contains(w.setup.Clients, op.Node)
	if !client {
		if op.F == history.ServerEnd {
			w.add("a server ends")
		}
		return
	}
	event := fmt.Sprintf("%s %s", op.F, op.Type)
	phase := w.phase(op.Node)
	switch {
	case op.Type == history.Info, op.Type == history.Fail:
		w.add("%s: %s, %s", event, kindOf(op.Error), phase)
	case op.F == history.Lost, op.F == history.Suspended, op.F == history.Abstain:
		w.add("%s, %s", event, phase)
	case op.F == history.Held, op.F == history.Stall, op.F == history.End, op.F == history.Holder:
		return // of the harness
	}
	w.add("%s > %s, %s", w.last[op.Node], event, phase)
	w.last[op.Node] = event
}

func (w *watcher) fault(f history.FaultNote) {
	switch f.Phase {
	case history.Begin:
		w.faults[victim{f.ID, f.Kind, f.Target}] = true
	case history.Heal, history.Missed, history.Skipped:
		delete(w.faults, victim{f.ID, f.Kind, f.Target})
	}
	w.add("%s %s", f.Kind, f.Phase)
}

// phase says what a client suffers, and what others do.
func (w *watcher) phase(node string) string {
	own, others := map[string]bool{}, map[string]bool{}
	for f := range w.faults {
		switch {
		case f.node == node:
			own[f.kind] = true
		case slices.Contains(w.setup.Clients, f.node):
			others["client "+f.kind] = true
		default:
			others["server "+f.kind] = true
		}
	}
	if len(own) > 0 {
		return "in " + words(own)
	}
	if len(others) > 0 {
		return "beside " + words(others)
	}
	return "calm"
}

func words(set map[string]bool) string {
	all := make([]string, 0, len(set))
	for w := range set {
		all = append(all, w)
	}
	slices.Sort(all)
	return strings.Join(all, "+")
}

// particular is what differs between two errors of one kind: numbers, names, addresses.
var particular = regexp.MustCompile(`"[^"]*"|[0-9a-f]{6,}|[0-9]+(\.[0-9]+)?[a-zµ]*`)

func kindOf(err string) string {
	err = particular.ReplaceAllString(err, "#")
	if len(err) > 60 {
		err = strings.ToValidUTF8(err[:60], "")
	}
	return err
}

// tokens notes how tokens of a key follow each other.
func (w *watcher) tokens(k *trace.Key) {
	for i := 1; i < len(k.Order); i++ {
		a, b := k.Order[i-1].Token, k.Order[i].Token
		switch {
		case a == 0 || b == 0:
		case b <= a:
			w.add("a token that does not rise")
		case b > a+1 && !locks.Table[w.setup.Promise.Backend].Sparse:
			w.add("tokens skipped: %s", band(float64(b-a-1)))
		}
	}
}

// looks notes what servers say of the holder that he does not believe himself.
func (w *watcher) looks(t *trace.Trace, k *trace.Key) {
	for _, i := range k.Holders {
		op := &t.Ops[i]
		var believed []string
		for _, g := range k.Grants {
			if g.OK <= op.Time && op.Time < g.Until {
				believed = append(believed, g.Owner)
			}
		}
		switch {
		case len(believed) > 0 && op.Owner == "":
			w.add("a look names nobody, and somebody holds")
		case len(believed) > 0 && !slices.Contains(believed, op.Owner):
			w.add("a look names another")
		case len(believed) == 0 && op.Owner != "":
			w.add("a look names who holds no more")
		}
	}
}
