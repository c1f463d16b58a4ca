package models

import "fmt"

// Settle puts a history to Porcupine that no sweep could decide: an owner goes on after
// a release of unknown outcome, or leases have no tokens. Within the limits of Porcupine
// the verdict is its own; else it stays unknown, and the reason says why.
func Settle(m Model, o Options, events []Event, ask func(string, Options, []Op) string, r *Result) {
	if r.Verdict != Unknown || r.Counts.OK == 0 || ask == nil || onlySearched(m.Name) {
		return
	}
	whole := false
	keys := opsOf(m, o, events, &whole)
	if !whole || len(keys) == 0 {
		return
	}
	o.Ask = ask
	found := newFound(o.Keep)
	for _, ops := range keys {
		s := search{k: &keyLog{name: keyName(events, ops)}, found: found, name: m.Name, o: o, ops: ops, calls: map[int]Ref{}}
		for _, op := range ops {
			for _, at := range []int{op.Call, op.Return} {
				if at < len(events) {
					s.calls[at] = Ref{at, events[at].Line, events[at].Time}
				}
			}
		}
		s.ask()
	}
	switch {
	case found.count > 0:
		r.Verdict, r.Found, r.Violations, r.Reason, r.Oracle = Violated, found.count, found.kept, found.kept[0].Message, Decided
	case found.doubt != "":
		r.Reason += "; " + found.doubt
	default:
		r.Verdict, r.Unjudged, r.Oracle = Holds, nil, Decided
		r.Reason = fmt.Sprintf("%d operations that returned are those of a %s, as Porcupine finds an order; no sweep decides it", r.Counts.OK, m.Name)
	}
}

func keyName(events []Event, ops []Op) string {
	if len(ops) == 0 {
		return ""
	}
	return events[ops[0].Call].Key
}
