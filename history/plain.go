package history

import "math"

// plain reads a line as Encode writes it: no white space, no escapes, no number
// beyond 64 bits. It is the fast path, a tenth of the time; what it does not
// take, op reads anew, so that only one of them decides what is an error.
func (p *parser) plain(b []byte, op *Op) bool {
	i, seen := 1, uint32(0)
	if len(b) == 0 || b[0] != '{' {
		return false
	}
	p.rare = p.rare[:0]
	for {
		from := i + 1
		if i >= len(b) || b[i] != '"' {
			return false
		}
		for i = from; i < len(b) && b[i] != '"'; i++ {
		}
		if i+2 >= len(b) || b[i+1] != ':' {
			return false
		}
		name := b[from:i]
		var bit uint32
		if i, bit = p.plainField(b, i+2, name, op); i <= 0 || i >= len(b) || seen&bit != 0 {
			return false
		}
		seen |= bit
		switch b[i] {
		case ',':
			i++
		case '}':
			return i+1 == len(b) || i+2 == len(b) && b[i+1] == '\n'
		default:
			return false
		}
	}
}

// plainField reads the value at i and returns where it ends, 0 if it is not plain, and a bit
// that is the field's own.
func (p *parser) plainField(b []byte, i int, name []byte, op *Op) (end int, bit uint32) {
	switch string(name) {
	case "index":
		var position int64
		if i = plainInt(b, i, &position); position != int64(op.Index) {
			return 0, 0
		}
		return i, 1
	case "time":
		return plainInt(b, i, &op.Time), 1 << 1
	case "mono":
		return plainInt(b, i, &op.Mono), 1 << 2
	case "real":
		return plainInt(b, i, &op.Real), 1 << 3
	case "process":
		var n int64
		i = plainInt(b, i, &n)
		op.Process = int(n)
		return i, 1 << 4
	case "token":
		return plainInt(b, i, &op.Token), 1 << 5
	case "sent":
		return plainInt(b, i, &op.Sent), 1 << 6
	case "lease":
		return plainInt(b, i, &op.Lease), 1 << 7
	case "deadline":
		return plainInt(b, i, &op.Deadline), 1 << 8
	case "type", "f", "node", "key", "owner", "value":
		text, end := plainText(b, i)
		if end == 0 {
			return 0, 0
		}
		return p.plainString(name, text, op, end)
	}
	if has(p.rare, name) {
		return 0, 0
	}
	p.rare = append(p.rare, name)
	p.line, p.pos = b, i // the rare ones, and those with parts of their own
	if p.opField(name, op) != nil {
		return 0, 0
	}
	return p.pos, 0
}

// plainString takes a string that ends at end; 0: it is not as it should be.
func (p *parser) plainString(name, text []byte, op *Op, end int) (int, uint32) {
	switch string(name) {
	case "type":
		if op.Type = typeOf(text); op.Type == "" {
			return 0, 0
		}
		return end, 1 << 9
	case "f":
		if op.F = operationOf(text); op.F == "" {
			op.F = F(p.names.of(text))
		}
		return end, 1 << 10
	case "node":
		op.Node = p.names.of(text)
		return end, 1 << 11
	case "key":
		if string(text) != p.key { // mostly there is one
			p.key = p.names.of(text)
		}
		op.Key = p.key
		return end, 1 << 12
	case "owner":
		op.Owner = p.names.of(text)
		return end, 1 << 13
	}
	op.Value = p.names.of(text)
	return end, 1 << 14
}

func typeOf(b []byte) Type {
	switch string(b) {
	case string(Invoke):
		return Invoke
	case string(OK):
		return OK
	case string(Fail):
		return Fail
	case string(Info):
		return Info
	case string(Note):
		return Note
	}
	return ""
}

// operationOf is the name of an operation or a note that is known without a look at the interner.
func operationOf(b []byte) F {
	switch string(b) {
	case string(Acquire):
		return Acquire
	case string(Try):
		return Try
	case string(Extend):
		return Extend
	case string(Release):
		return Release
	case string(Read):
		return Read
	case string(Write):
		return Write
	case string(Effect):
		return Effect
	case "gate": // as a history of an older version calls it
		return Held
	}
	return ""
}

// plainInt reads a number of at most 19 digits.
func plainInt(b []byte, i int, to *int64) int {
	negative := i < len(b) && b[i] == '-'
	if negative {
		i++
	}
	from, n := i, uint64(0)
	for ; i < len(b) && b[i]-'0' <= 9; i++ {
		n = n*10 + uint64(b[i]-'0')
	}
	if i == from || i-from > 19 || n > math.MaxInt64 {
		return 0
	}
	if *to = int64(n); negative {
		*to = -*to
	}
	return i
}

// plainText reads a string of printable ASCII without escapes, as raw does.
func plainText(b []byte, i int) (text []byte, end int) {
	if i >= len(b) || b[i] != '"' {
		return nil, 0
	}
	from := i + 1
	for i = from; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			return b[from:i], i + 1
		case c < ' ' || c >= 0x7f || c == '\\':
			return nil, 0
		}
	}
	return nil, 0
}
