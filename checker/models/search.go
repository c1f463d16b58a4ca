package models

import (
	"fmt"
	"sort"
	"time"

	"github.com/dlmtest/dlmtest/history"
)

// search judges a key by a search for an order: no sweep is known for a register of
// which values may repeat. It is Porcupine's, but where outcomes of a register are unknown.
type search struct {
	k     *keyLog
	found *found
	name  string
	o     Options
	ops   []Op        // in the order of their returns
	calls map[int]Ref // by index, of calls and returns
	by    string      // whose search decided, in words
}

func searched(name string) func(Options) Decider {
	fs := map[string][]F{"register": {Read, Write}, "cas-register": {Read, Write, CAS}, "kv": {Read, Write, Append}, Etcd: {Request}}[name]
	return func(o Options) Decider {
		return newFront(rules{name: name, fs: fs, judge: func(k *keyLog, f *found) judge {
			return &search{k: k, found: f, name: name, o: o, calls: map[int]Ref{}}
		}}, o)
	}
}

func (s *search) call(*operation) string { return "" }

func (s *search) done(op *operation) {
	if s.o.silent(op.F, op.Type, op.Value) {
		return
	}
	s.ops = append(s.ops, opOf(op))
	s.calls[op.call.Index], s.calls[op.ret.Index] = op.call, op.ret
}

// silent says whether an operation of a register says nothing: it had no effect,
// and nothing was seen.
func (o *Options) silent(f F, typ history.Type, value string) bool {
	return typ == history.Fail && f != CAS || typ == history.Info && f == Read ||
		o.Lenient && (typ == history.Fail || f == Read && value == "")
}

func (s *search) end() {
	if bad, ok := zones(s.o.Init, s.ops); ok {
		s.zoned(bad)
		return
	}
	if s.o.Ask == nil {
		s.found.doubted("Porcupine was not asked, and only it decides this model")
		return
	}
	if at := unwritten(s.o.Init, s.ops); at >= 0 {
		s.zoned([]int{at})
		return
	}
	s.ask()
}

// consult searches an order for operations, and tells whose search decided.
func (s *search) consult(ops []Op) (said string) {
	said, s.by = ordered(s.name, s.o, ops, OracleTime), ""
	if said == "" {
		said, s.by = s.o.Ask(s.name, s.o, ops), " (Porcupine)"
	}
	return said
}

// ordered searches an order for operations of a register, some of unknown outcome: Legal,
// Illegal, or nothing where it gives up, or they are others.
func ordered(model string, o Options, ops []Op, limit time.Duration) string {
	if u := newUnknowns(ops); u != nil && onlySearched(model) {
		return u.decide(o.Init, limit)
	}
	return ""
}

// ask lets the search decide.
func (s *search) ask() {
	switch said := s.consult(s.ops); said {
	case Legal:
	case Illegal:
		s.report()
	default:
		s.found.doubted("Porcupine " + said)
	}
}

// report names the first operation by whose return the history became illegal:
// legality only ends as operations return, so it is found by halving.
func (s *search) report() {
	by := s.by
	n := sort.Search(len(s.ops), func(i int) bool { return s.consult(upTo(s.ops, s.ops[i].Return)) == Illegal })
	if n == len(s.ops) {
		n--
	}
	op := s.ops[n]
	s.found.add(op.Return, s.k.name, []Ref{s.calls[op.Call], s.calls[op.Return]}, func() string {
		if op.F == Request {
			return fmt.Sprintf("No order explains what process %d was told at %s (Porcupine): %s, after it had "+
				"asked for %s.", op.Process, s.calls[op.Return], op.Value, op.Old)
		}
		return fmt.Sprintf("No order explains the %s %q by process %d %sthat returned at %s%s.", op.F,
			op.Value, op.Process, keyed(s.k), s.calls[op.Return], by)
	})
}

// upTo returns the history until event end: what has not returned is unknown.
func upTo(ops []Op, end int) []Op {
	var part []Op
	for _, op := range ops {
		switch {
		case op.Call > end:
			continue
		case op.Return > end && op.F == Read:
			continue
		case op.Return > end:
			op.Type = history.Info
		}
		part = append(part, op)
	}
	return part
}
