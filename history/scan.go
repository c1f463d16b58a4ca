package history

import (
	"encoding/json"
	"errors"
	"fmt"
)

// object reads {"name": value, …} and calls field at each value. A name that comes twice is
// refused: whichever of the two counted, a reader of the file may have taken the other.
func (p *parser) object(field func(name []byte) error) error {
	if !p.eat('{') {
		return p.errorf("want an object")
	}
	if p.eat('}') {
		return nil
	}
	var few [8][]byte
	before := few[:0]
	for {
		name, err := p.raw()
		if err != nil {
			return err
		}
		if has(before, name) {
			return p.errorf("field %q comes twice", name)
		}
		before = append(before, name)
		if !p.eat(':') {
			return p.errorf("want a colon after %q", name)
		}
		if err := field(name); err != nil {
			return err
		}
		if p.eat('}') {
			return nil
		}
		if !p.eat(',') {
			return p.errorf("want a comma or the end of the object")
		}
	}
}

func has(names [][]byte, name []byte) bool {
	for _, other := range names {
		if string(other) == string(name) {
			return true
		}
	}
	return false
}

var errNotPlain = errors.New("not plain")

// raw reads a string of printable ASCII without escapes, as names are.
func (p *parser) raw() ([]byte, error) {
	if !p.eat('"') {
		return nil, p.errorf("want a string")
	}
	for i, c := range p.line[p.pos:] {
		if c == '"' {
			s := p.line[p.pos : p.pos+i]
			p.pos += i + 1
			return s, nil
		}
		if c < ' ' || c >= 0x7f || c == '\\' {
			return nil, errNotPlain
		}
	}
	return nil, p.errorf("a string without an end")
}

// string reads any string; the rare one that is not plain by encoding/json.
func (p *parser) string() (string, error) {
	p.peek()
	from := p.pos
	b, err := p.raw()
	if err == nil {
		return p.names.of(b), nil
	}
	if !errors.Is(err, errNotPlain) {
		return "", err
	}
	to := from + 1
	for to < len(p.line) && p.line[to] != '"' {
		if p.line[to] == '\\' {
			to++
		}
		to++
	}
	if to >= len(p.line) {
		return "", p.errorf("a string without an end")
	}
	var s string
	if err := json.Unmarshal(p.line[from:to+1], &s); err != nil {
		return "", p.errorf("%v", err)
	}
	p.pos = to + 1
	return s, nil
}

// strings reads ["…", …]; an empty list is nil, as Encode omits it.
func (p *parser) strings() (list []string, err error) {
	if p.null() {
		return nil, nil
	}
	if !p.eat('[') {
		return nil, p.errorf("want a list")
	}
	for !p.eat(']') {
		if len(list) > 0 && !p.eat(',') {
			return nil, p.errorf("want a comma or the end of the list")
		}
		s, err := p.string()
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

func (p *parser) int() (int64, error) {
	negative := p.eat('-')
	if c := p.at(); c < '0' || c > '9' {
		return 0, p.errorf("want a whole number")
	}
	var n uint64
	for ; p.at() >= '0' && p.at() <= '9'; p.pos++ {
		if n > (1<<63)/10 {
			return 0, p.errorf("a number beyond 64 bits")
		}
		n = n*10 + uint64(p.line[p.pos]-'0')
	}
	if n > 1<<63 || (n == 1<<63 && !negative) {
		return 0, p.errorf("a number beyond 64 bits")
	}
	if negative {
		return -int64(n), nil
	}
	return int64(n), nil
}

// small reads a number of 32 bits.
func (p *parser) small() (int32, error) {
	n, err := p.int()
	if err == nil && int64(int32(n)) != n {
		err = p.errorf("a number beyond 32 bits")
	}
	return int32(n), err
}

func (p *parser) bool() (bool, error) {
	switch {
	case p.word("true"):
		return true, nil
	case p.word("false"):
		return false, nil
	}
	return false, p.errorf("want true or false")
}

func (p *parser) null() bool { return p.word("null") }

func (p *parser) word(w string) bool {
	p.peek()
	if len(p.line)-p.pos < len(w) || string(p.line[p.pos:p.pos+len(w)]) != w {
		return false
	}
	p.pos += len(w)
	return true
}

// at is the byte at the position, 0 at the end.
func (p *parser) at() byte {
	if p.pos < len(p.line) {
		return p.line[p.pos]
	}
	return 0
}

// peek skips white space and returns what follows it, 0 at the end.
func (p *parser) peek() byte {
	for {
		switch c := p.at(); c {
		case ' ', '\t', '\r', '\n':
			p.pos++
		default:
			return c
		}
	}
}

func (p *parser) eat(c byte) bool {
	if p.peek() != c || p.pos >= len(p.line) {
		return false
	}
	p.pos++
	return true
}

func (p *parser) errorf(format string, args ...any) error {
	return fmt.Errorf("column %d: %s", p.pos+1, fmt.Sprintf(format, args...))
}
