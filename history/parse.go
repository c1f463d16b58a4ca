package history

import (
	"errors"
	"fmt"
	"hash/maphash"
	"unicode/utf8"
)

// parser reads one Op from one line of JSON. It is written for this schema, as
// encoding/json alone costs many times a scan of the file and a history is the
// one thing that every command reads. What it does not know it refuses: a field
// that were skipped in silence could change a verdict.
type parser struct {
	line  []byte
	pos   int
	names interner
	key   string   // the last one
	rare  [][]byte // the rare fields that plain has met in the line
}

// interner keeps recent strings, so that the few thousand names that a history
// repeats a million times are allocated once. A miss only costs an allocation.
type interner struct {
	seed  maphash.Seed
	slots [1 << 12]string
}

func (in *interner) of(b []byte) string {
	slot := &in.slots[maphash.Bytes(in.seed, b)%uint64(len(in.slots))]
	if *slot != string(b) {
		*slot = string(b)
	}
	return *slot
}

// Parsing returns what reads one operation, as AppendOp has written it, into an empty Op that keeps nothing of the line. It
// is not safe for concurrent use.
func Parsing() func(line []byte, op *Op) error { return newParser().op }

func newParser() *parser { return &parser{names: interner{seed: maphash.MakeSeed()}} }

// op parses line, which holds exactly one object, into op, of which only the
// index is set.
func (p *parser) op(line []byte, op *Op) error {
	if !utf8.Valid(line) {
		return errors.New("not UTF-8")
	}
	if p.plain(line, op) && op.Type != "" {
		return nil
	}
	*op = Op{Index: op.Index}
	p.line, p.pos = line, 0
	if err := p.object(func(name []byte) error { return p.opField(name, op) }); err != nil {
		return err
	}
	if p.peek() != 0 || p.pos < len(p.line) {
		return p.errorf("something follows the object")
	}
	switch op.Type {
	case Invoke, OK, Fail, Info, Note:
		return nil
	}
	return fmt.Errorf("type %q: want invoke, ok, fail, info or note", op.Type)
}

func (p *parser) opField(name []byte, op *Op) (err error) {
	switch string(name) {
	case "index":
		var n int64
		if n, err = p.int(); err == nil && n != int64(op.Index) {
			err = p.errorf("the index is %d, and it is operation %d of the file: lines are missing, or moved", n, op.Index)
		}
	case "time":
		op.Time, err = p.int()
	case "mono":
		op.Mono, err = p.int()
	case "real":
		op.Real, err = p.int()
	case "node":
		op.Node, err = p.string()
	case "process":
		var n int64
		n, err = p.int()
		op.Process = int(n)
	case "type":
		op.Type, err = word[Type](p)
	case "f":
		op.F, err = p.operation()
	case "key":
		op.Key, err = p.string()
	case "owner":
		op.Owner, err = p.string()
	case "token":
		op.Token, err = p.int()
	case "sent":
		op.Sent, err = p.int()
	case "lease":
		op.Lease, err = p.int()
	case "deadline":
		op.Deadline, err = p.int()
	case "mode":
		op.Mode, err = word[Mode](p)
	case "permits":
		op.Permits, err = p.small()
	case "depth":
		op.Depth, err = p.small()
	case "limit":
		op.Limit, err = p.int()
	case "busy":
		op.Busy, err = p.bool()
	case "value":
		op.Value, err = p.string()
	case "unfenced":
		op.Unfenced, err = p.copy()
	case "fenced":
		op.Fenced, err = p.copy()
	case "fault":
		op.Fault, err = p.fault()
	case "length":
		op.Length, err = p.int()
	case "error":
		op.Error, err = p.string()
	default:
		err = p.errorf("unknown field %q", name)
	}
	return err
}

// word reads a string that is one of a set.
func word[T ~string](p *parser) (T, error) {
	s, err := p.string()
	return T(s), err
}

func (p *parser) operation() (F, error) {
	s, err := p.string()
	if known := operationOf([]byte(s)); known != "" {
		return known, err
	}
	return F(s), err
}

func (p *parser) copy() (*Copy, error) {
	if p.null() {
		return nil, nil
	}
	c := new(Copy)
	err := p.object(func(name []byte) (err error) {
		switch string(name) {
		case "value":
			c.Value, err = p.string()
		case "base":
			c.Base, err = p.string()
		case "accepted":
			c.Accepted, err = p.bool()
		case "previous":
			c.Previous, err = p.string()
		case "token":
			c.Token, err = p.int()
		default:
			err = p.errorf("unknown field %q of a copy", name)
		}
		return err
	})
	return c, err
}

func (p *parser) fault() (*FaultNote, error) {
	if p.null() {
		return nil, nil
	}
	n := new(FaultNote)
	err := p.object(func(name []byte) (err error) {
		var s string
		switch string(name) {
		case "id":
			var id int64
			id, err = p.int()
			n.ID = int(id)
		case "kind":
			n.Kind, err = p.string()
		case "target":
			n.Target, err = p.string()
		case "phase":
			s, err = p.string()
			n.Phase = Phase(s)
		case "cut":
			n.Cut, err = p.strings()
		case "whole":
			n.Whole, err = p.bool()
		case "proof":
			n.Proof, err = p.string()
		case "lasted":
			n.Lasted, err = p.int()
		case "back":
			n.Back, err = p.bool()
		default:
			err = p.errorf("unknown field %q of a fault", name)
		}
		return err
	})
	return n, err
}
