package history

import "math"

// plain reads a line as Encode writes it: no white space, no escapes, no number
// beyond 64 bits. It is the fast path, a tenth of the time; what it does not
// take, op reads anew, so that only one of them decides what is an error.
func (p *parser) plain(b []byte, op *Op) bool {
	i := 1
	if len(b) == 0 || b[0] != '{' {
		return false
	}
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
		if i = p.plainField(b, i+2, name, op); i <= 0 || i >= len(b) {
			return false
		}
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

// plainField reads the value at i and returns where it ends, 0 if it is not plain.
func (p *parser) plainField(b []byte, i int, name []byte, op *Op) int {
	switch string(name) {
	case "index":
		var position int64
		return plainInt(b, i, &position)
	case "time":
		return plainInt(b, i, &op.Time)
	case "mono":
		return plainInt(b, i, &op.Mono)
	case "real":
		return plainInt(b, i, &op.Real)
	case "process":
		var n int64
		i = plainInt(b, i, &n)
		op.Process = int(n)
		return i
	case "token":
		return plainInt(b, i, &op.Token)
	case "sent":
		return plainInt(b, i, &op.Sent)
	case "lease":
		return plainInt(b, i, &op.Lease)
	case "deadline":
		return plainInt(b, i, &op.Deadline)
	case "type", "f", "node", "key", "owner", "value":
		text, end := plainText(b, i)
		if end > 0 {
			end = p.plainString(name, text, op, end)
		}
		return end
	}
	p.line, p.pos = b, i // the rare ones, and those with parts of their own
	if p.opField(name, op) != nil {
		return 0
	}
	return p.pos
}

// plainString takes a string that ends at end; 0: it is not as it should be.
func (p *parser) plainString(name, text []byte, op *Op, end int) int {
	switch string(name) {
	case "type":
		if op.Type = typeOf(text); op.Type == "" {
			return 0
		}
	case "f":
		if op.F = operationOf(text); op.F == "" {
			op.F = F(p.names.of(text))
		}
	case "node":
		op.Node = p.names.of(text)
	case "key":
		if string(text) != p.key { // mostly there is one
			p.key = p.names.of(text)
		}
		op.Key = p.key
	case "owner":
		op.Owner = p.names.of(text)
	case "value":
		op.Value = p.names.of(text)
	}
	return end
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
