package formats

import (
	"errors"
	"io"
)

// readEDN reads Jepsen's EDN: maps in one vector or list, or one after the other.
func (r *Reader) readEDN() error { return r.readMaps(false) }

// readKV reads EDN in which every operation has a key of its own.
func (r *Reader) readKV() error { return r.readMaps(true) }

func (r *Reader) readMaps(keyed bool) error {
	p := &edn{source: newSource(r.in), table: new(wordTable), own: r.o.Fields, notes: r.notes}
	c, ok, err := p.blank()
	var end byte // of the vector, if there is one
	tagged := ok && c == '#' && p.second() != '{'
	if tagged { // by newer Jepsen: all of it, or its first operation
		p.skip()
		if err = p.tag(); err == nil {
			c, ok, err = p.blank()
		}
	}
	if ok && err == nil && (c == '[' || c == '(') {
		end = closing[c]
		p.skip()
		c, ok, err = p.blank()
	}
	for ; ok && err == nil && (end == 0 || c != end); c, ok, err = p.blank() {
		if err = r.readMap(p, keyed); err != nil {
			return err
		}
	}
	switch {
	case err != nil:
		return err
	case !ok && (end != 0 || !errors.Is(p.failed, io.EOF)):
		return p.cut()
	case !ok:
		return nil
	}
	p.skip()
	if _, ok, err := p.blank(); ok || err != nil {
		return p.errorf("something follows the end of the history")
	}
	return nil
}

// readMap reads one operation, tagged or not.
func (r *Reader) readMap(p *edn, keyed bool) error {
	p.left = mostForms
	if c, _ := p.peek(); c == '#' && p.second() != '{' { // newer Jepsen tags its operations
		p.skip()
		if err := p.tag(); err != nil {
			return err
		}
	}
	c, ok, err := p.blank()
	switch {
	case err != nil:
		return err
	case !ok:
		return p.cut()
	case c != '{':
		return p.errorf("want a map {…} for each operation, got %q", c)
	}
	s := step{line: p.line}
	p.skip()
	if p.notes == nil && p.quickly(&s) {
		return r.taken(&s, keyed)
	}
	s = step{line: s.line}
	for {
		c, ok, err := p.blank()
		switch {
		case err != nil:
			return err
		case !ok:
			return p.cut()
		case c == '}':
			p.skip()
			return r.taken(&s, keyed)
		}
		if err := p.entry(&s); err != nil {
			return err
		}
	}
}

func (r *Reader) taken(s *step, keyed bool) error {
	if keyed && s.key.nothing() && !s.nemesis() {
		return r.at(s.line, errors.New("an operation without :key"))
	}
	return r.take(s)
}

// entry reads one key and its value; what is not known it skips over.
func (p *edn) entry(s *step) error {
	name, err := p.name()
	if err != nil {
		return err
	}
	if c, ok, err := p.blank(); err != nil || ok && c == '}' {
		if err == nil {
			err = p.errorf("a map with a key and no value")
		}
		return err
	}
	if name.which == 0 && (p.notes == nil || name.kind != keyword) {
		return p.discard()
	}
	value, err := p.value()
	if err != nil {
		return err
	}
	if name.which == 0 {
		s.unknown = append(s.unknown, form{text: name.text}, value)
		return nil
	}
	return s.set(name.which, name.written, name.other, value)
}

// name reads the key of an entry, which is mostly a keyword.
func (p *edn) name() (word, error) {
	c, ok, err := p.blank()
	if err != nil || !ok || c != ':' {
		_, err := p.value() // no name of a field is one
		return word{}, err
	}
	f := form{line: p.line, column: p.column}
	p.text = p.text[:0]
	if err := p.rest(); err != nil {
		return word{}, err
	}
	return p.word(f)
}
