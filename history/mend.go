package history

import "slices"

// Mend makes a history that can be judged of one from which records of some sources are
// missing in the middle, as their End notes tell: a break of the rules is then no mistake
// of the recording. An operation whose completion is not there stays open, as of an
// unknown outcome, and its process goes on under another number; a completion whose
// invocation is not there is left out. Nothing of a source is touched whose records are
// all here, so Validate still finds what else is wrong. The End note of each mended
// source says that records are missing: the judge reads it so.
func Mend(setup Setup, ops []Op) []Op {
	m := mender{here: map[string]int64{}, ends: map[string]int{}, now: map[int]int{}, open: map[int]*Op{}, holed: map[string]bool{}}
	for i := range ops {
		op := &ops[i]
		m.next = max(m.next, op.Process+1)
		if op.Type == Note && op.F == End {
			m.ends[op.Node] = i
		} else {
			m.here[op.Node]++
		}
	}
	var kept []Op
	for i := range ops {
		op := ops[i]
		if op.Type != Note && slices.Contains(setup.Sources, op.Node) && !m.allCame(op.Node, ops) && !m.mend(&op) {
			continue
		}
		kept = append(kept, op)
	}
	if len(m.holed) == 0 {
		return ops
	}
	for _, name := range setup.Sources {
		if _, ended := m.ends[name]; m.holed[name] && !ended {
			kept = append(kept, Op{Time: ops[len(ops)-1].Time, Node: name, Type: Note, F: End, Length: m.here[name] + 1})
		}
	}
	for i := range kept {
		kept[i].Index = i
	}
	return kept
}

type mender struct {
	here  map[string]int64 // records of each source
	ends  map[string]int   // its End note
	next  int              // a process that nobody has
	now   map[int]int      // the number under which a process goes on
	open  map[int]*Op      // what it has invoked, by the number that it was recorded with
	holed map[string]bool
}

func (m *mender) allCame(name string, ops []Op) bool {
	end, ended := m.ends[name]
	return ended && m.here[name] == ops[end].Length
}

// mend gives an operation the number of its process; false: it is left out.
func (m *mender) mend(op *Op) bool {
	recorded, open := op.Process, m.open[op.Process]
	completes := op.Type != Invoke && open != nil && open.F == op.F &&
		(op.Key == "" || op.Key == open.Key) && (op.Owner == "" || open.Owner == "" || op.Owner == open.Owner) &&
		(op.Value == "" || open.Value == "" || op.Value == open.Value) &&
		(op.Sent == 0 || op.Sent >= open.Time && op.Sent <= op.Time)
	switch {
	case op.Type == Invoke:
		if open != nil {
			m.holed[op.Node], m.now[recorded] = true, m.next
			m.next++
		}
		m.open[recorded] = op
	case !completes:
		m.holed[op.Node] = true
		return false
	default:
		m.open[recorded] = nil
	}
	if n, goesOn := m.now[recorded]; goesOn {
		op.Process = n
	}
	return true
}
