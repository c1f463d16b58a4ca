package formats

// readElle reads elle-cli's JSON: an array of operations, or one after the other.
func (r *Reader) readElle() error { return r.readObjects(r.take) }

// readObjects reads JSON objects of one event each.
func (r *Reader) readObjects(take func(*step) error) error {
	p := &jsonText{source: newSource(r.in)}
	return p.objects(func() error {
		s := step{line: p.line}
		err := p.object(func(name form) error {
			which, other := fieldOf(name.text, r.o.Fields)
			if which == 0 && r.notes == nil {
				p.left = -1
				_, err := p.form()
				return err
			}
			value, err := p.value()
			if err != nil {
				return err
			}
			if which == 0 {
				s.unknown = append(s.unknown, name, value)
				return nil
			}
			return s.set(which, name.text, other, value)
		})
		if err != nil {
			return err
		}
		return take(&s)
	})
}

// objects calls one before each object of an array, or of a row without one.
func (p *jsonText) objects(one func() error) error {
	c, ok := p.blank()
	if ok && c == '[' {
		p.skip()
		for first := true; ; first = false {
			more, err := p.more(']', first)
			if err != nil {
				return err
			}
			if !more {
				break
			}
			if _, ok := p.blank(); !ok {
				return p.cut()
			}
			if err := one(); err != nil {
				return err
			}
		}
		if c, ok := p.blank(); ok {
			return p.errorf("%q follows the end of the history", c)
		}
		return p.ended()
	}
	for ; ok; _, ok = p.blank() {
		if err := one(); err != nil {
			return err
		}
	}
	return p.ended()
}
