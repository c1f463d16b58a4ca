package formats

import (
	"errors"
	"io"
	"unicode/utf8"
)

// jsonText reads JSON, form by form. encoding/json would take a key that comes
// twice, hold an array of operations in memory, and name no lines.
type jsonText struct {
	*source
	depth int
	left  int // forms that may still be built of the value at hand; below 0: only skip
}

func (p *jsonText) blank() (byte, bool) {
	for {
		switch c, ok := p.peek(); {
		case !ok:
			return 0, false
		case c == ' ', c == '\t', c == '\r', c == '\n':
			p.skip()
		default:
			return c, true
		}
	}
}

// want moves past one byte that must come next.
func (p *jsonText) want(b byte, where string) error {
	c, ok := p.blank()
	if !ok {
		return p.cut()
	}
	if c != b {
		return p.errorf("want %q %s, got %q", b, where, c)
	}
	p.skip()
	return nil
}

// value reads one form and builds at most mostForms of it.
func (p *jsonText) value() (form, error) {
	p.left = mostForms
	f, err := p.form()
	if p.left < 0 {
		f.kind, f.items = large, nil
	}
	return f, err
}

func (p *jsonText) form() (form, error) {
	c, ok := p.blank()
	if !ok {
		return form{}, p.cut()
	}
	if p.left >= 0 {
		p.left--
	}
	f := form{line: p.line, column: p.column}
	switch c {
	case '"':
		s, err := p.string()
		f.kind, f.text = text, s
		return f, err
	case '[':
		f.kind = list
		return p.array(f)
	case '{':
		f.kind = dict
		err := p.object(func(name form) error {
			value, err := p.form()
			p.add(&f, name, value)
			return err
		})
		return f, err
	}
	return p.word(f)
}

// add keeps items while they may be built.
func (p *jsonText) add(f *form, items ...form) {
	if p.left >= 0 {
		f.items = append(f.items, items...)
	} else {
		f.items = nil
	}
}

// ended gives the error for which reading ended early, if there is one.
func (p *jsonText) ended() error {
	if errors.Is(p.failed, io.EOF) {
		return nil
	}
	return p.failed
}

func (p *jsonText) deeper() error {
	if p.depth++; p.depth > deepest {
		return p.errorf("nested deeper than %d", deepest)
	}
	return nil
}

func (p *jsonText) array(f form) (form, error) {
	if err := p.deeper(); err != nil {
		return form{}, err
	}
	defer func() { p.depth-- }()
	p.skip()
	for first := true; ; first = false {
		more, err := p.more(']', first)
		if err != nil || !more {
			return f, err
		}
		item, err := p.form()
		if err != nil {
			return form{}, err
		}
		p.add(&f, item)
	}
}

// object calls field after each name and its colon.
func (p *jsonText) object(field func(name form) error) error {
	if err := p.deeper(); err != nil {
		return err
	}
	defer func() { p.depth-- }()
	if err := p.want('{', "at the start of an object"); err != nil {
		return err
	}
	for first := true; ; first = false {
		more, err := p.more('}', first)
		if err != nil || !more {
			return err
		}
		name := form{kind: text}
		if c, ok := p.blank(); !ok {
			return p.cut()
		} else if c != '"' {
			return p.errorf("want the name of a field, got %q", c)
		}
		name.line, name.column = p.line, p.column
		if name.text, err = p.string(); err != nil {
			return err
		}
		if err := p.want(':', "after a name"); err != nil {
			return err
		}
		if err := field(name); err != nil {
			return err
		}
	}
}

// more moves past a comma, or past the end of a collection.
func (p *jsonText) more(end byte, first bool) (bool, error) {
	c, ok := p.blank()
	switch {
	case !ok:
		return false, p.cut()
	case c == end:
		p.skip()
		return false, nil
	case first:
		return true, nil
	}
	if err := p.want(',', "between two items"); err != nil {
		return false, err
	}
	if c, ok = p.blank(); ok && c == end {
		return false, p.errorf("a comma before the end")
	}
	return true, nil
}

// string reads "…", whose first byte was shown.
func (p *jsonText) string() (string, error) {
	p.skip()
	p.text = p.text[:0]
	for {
		c, ok := p.peek()
		switch {
		case !ok:
			return "", p.cut()
		case c < ' ':
			return "", p.errorf("a control character in a string")
		case c == '"':
			p.skip()
			if !utf8.Valid(p.text) {
				return "", p.errorf("a string that is no UTF-8")
			}
			return string(p.text), nil
		case c == '\\':
			if err := p.escape(); err != nil {
				return "", err
			}
		default:
			if err := p.keep(); err != nil {
				return "", err
			}
		}
	}
}

func (p *jsonText) escape() error {
	p.skip()
	c, ok := p.peek()
	switch {
	case !ok:
		return p.cut()
	case c == 'u':
		p.skip()
		return p.unicode()
	}
	plain, ok := escapes[c]
	if c == '/' {
		plain, ok = c, true
	}
	if !ok {
		return p.errorf("\\%c is no escape of a string", c)
	}
	return p.keepAs(plain)
}

// word reads a number, true, false or null.
func (p *jsonText) word(f form) (form, error) {
	p.text = p.text[:0]
	for {
		c, ok := p.peek()
		if !ok || !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c == '-' || c == '+' || c == '.' || c == 'E') {
			break
		}
		if err := p.keep(); err != nil {
			return form{}, err
		}
	}
	f.text = string(p.text)
	switch {
	case f.text == "null":
		f.kind, f.text = null, ""
	case f.text == "true", f.text == "false":
		f.kind = boolean
	case isWhole(f.text):
		f.kind = whole
	case isFraction(f.text):
		f.kind = fraction
	default:
		if _, ok := p.peek(); !ok {
			return form{}, p.cut()
		}
		return form{}, f.errorf("%s is no JSON", clip(f.text))
	}
	return f, nil
}
