package formats

// Nearly every operation in EDN is one line: a map of keywords, numbers, short strings and
// vectors of these. Such a map is read here out of the bytes at hand, several times as fast as
// form by form. Of any other nothing is taken and readMap reads it, so that this file decides nothing.

// quickDeep and quickItems bound the collections that are read quickly.
const quickDeep, quickItems = 3, 64

// quick is a place in the bytes at hand.
type quick struct {
	*edn
	b     []byte
	at    int
	items int // of collections, so far
}

// quickly reads the entries of a map, behind its {, to its }. false: it has moved nowhere,
// and what it has set of s is to be forgotten.
func (p *edn) quickly(s *step) bool {
	q := quick{edn: p, b: p.buf[p.pos:p.end]}
	for {
		switch q.next() {
		case '}':
			q.at++
			p.pos, p.column = p.pos+q.at, p.column+q.at
			return true
		case ':':
			if !q.entry(s) {
				return false
			}
		default:
			return false
		}
	}
}

func (q *quick) entry(s *step) bool {
	name, err := q.known(q.token())
	if err != nil || s.told&name.which != 0 {
		return false
	}
	c := q.next()
	if name.which == 0 {
		_, ok := q.form(c, false, 0)
		return ok
	}
	if c >= '0' && c <= '9' && !name.other && name.which&(toldTime|toldToken|toldLease) != 0 {
		n, ok := q.number()
		s.setNumber(name.which, n)
		return ok
	}
	f, ok := q.form(c, true, 0)
	return ok && s.set(name.which, name.written, name.other, f) == nil
}

// setNumber takes a field that is a number within its bounds, as set does.
func (s *step) setNumber(which told, n int64) {
	s.told |= which
	switch which {
	case toldTime:
		s.time = n
	case toldToken:
		s.token = n
	case toldLease:
		s.lease = n
	}
}

// next moves past blanks and shows what follows; 0: nothing is at hand.
func (q *quick) next() byte {
	for ; q.at < len(q.b); q.at++ {
		if c := q.b[q.at]; c != ' ' && c != ',' {
			return c
		}
	}
	return 0
}

// token moves past a name or a number; it is empty where its end is not at hand.
func (q *quick) token() []byte {
	from := q.at
	for ; q.at < len(q.b); q.at++ {
		if tokenStops[q.b[q.at]] {
			return q.b[from:q.at]
		}
	}
	return nil
}

// number moves past a whole number of at most 18 digits, which every field can hold.
func (q *quick) number() (n int64, ok bool) {
	digits := q.token()
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	return n, len(digits) == 1 || len(digits) > 1 && len(digits) <= 18 && digits[0] != '0'
}

// form reads a scalar, or a vector or list of such, which begins with c, and builds it if it is kept.
func (q *quick) form(c byte, kept bool, deep int) (form, bool) {
	f := form{line: q.line, column: q.column + q.at}
	switch c {
	case 0, '{', '#': // any other that begins no form is an empty token
		return f, false
	case '[', '(':
		return q.list(f, kept, deep+1)
	case '"':
		return q.string(f, kept)
	}
	b := q.token()
	if len(b) == 0 || !kept {
		return f, len(b) > 0
	}
	w, err := q.known(b)
	f.kind, f.text = w.kind, w.text
	return f, err == nil
}

func (q *quick) list(f form, kept bool, deep int) (form, bool) {
	end := closing[q.b[q.at]]
	q.at++
	f.kind = list
	for {
		c := q.next()
		if c == end {
			q.at++
			return f, true
		}
		if q.items++; deep > quickDeep || q.items > quickItems {
			return f, false
		}
		item, ok := q.form(c, kept, deep)
		if !ok {
			return f, false
		}
		if kept {
			f.items = append(f.items, item)
		}
	}
}

// string reads a string of printable ASCII without an escape.
func (q *quick) string(f form, kept bool) (form, bool) {
	q.at++
	from := q.at
	for ; q.at < len(q.b); q.at++ {
		switch c := q.b[q.at]; {
		case c == '"':
			if f.kind = text; kept {
				f.text = q.table.string(q.b[from:q.at])
			}
			q.at++
			return f, true
		case c < ' ', c == '\\', c >= 0x80:
			return f, false
		}
	}
	return f, false
}
