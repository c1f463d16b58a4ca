package formats

import "strings"

// tagged reads the objects of a struct and makes a form of them. What no history has a
// use for becomes a name, which is no value.
func (p *fressian) tagged(s structType) (form, error) {
	switch s.tag {
	case "map":
		return p.dict()
	case "uuid", "bigint", "char", "byte", "atom", "vec", "set", "persistent-hash-set", "persistent-sorted-set",
		"instant", "date-time", "inst", "uri", "regex", "block-ref":
		f, err := p.form()
		return p.meaning(s.tag, f), err
	}
	n := s.fields
	if n < 0 { // an array: its length, and so many
		var err error
		if n, err = p.count(len(p.in)); err != nil {
			return form{}, err
		}
	}
	var items []form
	for range n {
		f, err := p.form()
		if err != nil {
			return form{}, err
		}
		if p.left >= 0 || n <= 2 {
			items = append(items, f)
		}
	}
	return p.together(s.tag, n, items), nil
}

// meaning is the form of a struct of one object.
func (p *fressian) meaning(tag string, f form) form {
	switch tag {
	case "bigint":
		return p.of(whole, bigInt(f.text))
	case "char", "regex":
		return p.of(symbol, f.text)
	case "uuid", "uri", "instant", "date-time", "inst":
		return p.of(text, f.text)
	case "set", "persistent-hash-set", "persistent-sorted-set":
		if f.kind == list || f.kind == null {
			f.kind = set
		}
	case "block-ref":
		return p.of(blockRef, f.text)
	}
	return f
}

// together is the form of a struct of several objects.
func (p *fressian) together(tag string, n int, items []form) form {
	switch {
	case tag == "key" && n == 2:
		return p.of(keyword, strings.TrimPrefix(items[0].text+"/"+items[1].text, "/"))
	case tag == "sym" && n == 2:
		return p.of(symbol, strings.TrimPrefix(items[0].text+"/"+items[1].text, "/"))
	case p.left < 0:
		return p.of(large, "")
	case tag == "map-entry" && n == 2, strings.HasSuffix(tag, "[]"):
		f := p.of(list, "")
		f.items = items
		return f
	case tag == "record" && n == 2:
		return items[1]
	}
	return p.of(symbol, tag)
}

// dict reads a map, which is a list in which keys and values take turns.
func (p *fressian) dict() (form, error) {
	f, err := p.form()
	if err == nil && f.kind != list && f.kind != large || len(f.items)%2 != 0 {
		err = p.errorf("a map that is no list of pairs")
	}
	if f.kind == list {
		f.kind = dict
	}
	return f, err
}

// opTag is how newer Jepsen writes an operation: what every one has, and a map of the rest.
const opTag = "jepsen.history.Op"

var opFields = []string{"index", "time", "type", "process", "f", "value"}

// entries calls one with each entry of the map, or of the operation, that begins with a
// code. Each value is bounded by itself.
func (p *fressian) entries(code byte, one func(name, value form) error) error {
	if code == codeNull {
		return nil
	}
	if p.depth++; p.depth > deepest {
		return p.errorf("nested deeper than %d", deepest)
	}
	defer func() { p.depth-- }()
	s, is, err := p.structOf(code)
	switch {
	case err != nil:
		return err
	case is && s.tag == "map":
		return p.pairs(one)
	case is && s.tag == "record" && s.fields == 2:
		_, err = p.value(mostForms)
	case is && s.tag == opTag && s.fields == len(opFields)+1:
		for _, name := range opFields {
			value, err := p.value(mostForms)
			if err == nil {
				err = one(p.of(keyword, name), value)
			}
			if err != nil {
				return err
			}
		}
	default:
		return p.errorf("want a map or an operation, got the code %#x %s", code, clip(s.tag))
	}
	if err == nil {
		code, err = p.code()
	}
	if err != nil {
		return err
	}
	return p.entries(code, one)
}

// pairs reads the entries of a map: a list in which names and values take turns.
func (p *fressian) pairs(one func(name, value form) error) error {
	code, err := p.code()
	if err != nil {
		return err
	}
	var name form
	n := 0
	err = p.elements(code, func(code byte) error {
		p.left = mostForms
		f, err := p.coded(code)
		if n++; err != nil || n%2 == 1 {
			name = f
			return err
		}
		return one(name, f)
	})
	if err == nil && n%2 == 1 {
		err = p.errorf("a map that ends with a name")
	}
	return err
}
