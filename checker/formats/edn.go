package formats

import (
	"unicode/utf8"
)

// edn reads EDN, the notation of Clojure, form by form. It is our own as the one
// Go library for it holds a whole vector in memory (40 to 110 times the file),
// takes a key that comes twice, names no lines, and refuses what stands in real
// histories: #object[Class 0x1f "…"], #:ns{…}, #"…".
type edn struct {
	*source
	depth int
	left  int               // forms that may still be built of the value at hand; below 0: only skip
	table *wordTable        // nil: of a text that is too short for one
	own   map[string]string // the user's names of fields
	notes beside            // what stands under other names; nil: nobody asks
}

// blank skips white space, comments and discarded forms, and shows what follows.
func (p *edn) blank() (byte, bool, error) {
	for {
		c, ok := p.peek()
		switch {
		case !ok:
			return 0, false, nil
		case c == ';':
			for ok && c != '\n' {
				p.skip()
				c, ok = p.peek()
			}
		case c == '#' && p.second() == '_':
			p.skip()
			p.skip()
			if err := p.discard(); err != nil {
				return 0, false, err
			}
		case c == '^': // what Clojure knows beside the form that follows
			p.skip()
			if err := p.discard(); err != nil {
				return 0, false, err
			}
		case c <= ' ' || c == ',':
			p.skip()
		default:
			return c, true, nil
		}
	}
}

// value reads one form and builds at most mostForms of it.
func (p *edn) value() (form, error) {
	p.left = mostForms
	f, err := p.form()
	if p.left < 0 {
		f.kind, f.items = large, nil
	}
	return f, err
}

// discard skips over one form.
func (p *edn) discard() error {
	if err := p.deeper(); err != nil { // a discard may discard a discard
		return err
	}
	before := p.left
	p.left = -1
	_, err := p.form()
	p.left = before
	p.depth--
	return err
}

// form reads one form. A tag is dropped: its form is what counts here.
func (p *edn) form() (form, error) {
	c, ok, err := p.blank()
	if err != nil {
		return form{}, err
	}
	if !ok {
		return form{}, p.cut()
	}
	if p.left >= 0 {
		p.left--
	}
	at := form{line: p.line, column: p.column}
	switch c {
	case '#':
		return p.tagged(at)
	case '[', '(':
		return p.collection(at, list, c)
	case '{':
		return p.collection(at, dict, c)
	case '"':
		return p.string(at, text)
	case '\\':
		return p.token(at)
	case ']', ')', '}':
		return form{}, p.errorf("%q closes nothing here", c)
	}
	return p.token(at)
}

// tagged reads what begins with #.
func (p *edn) tagged(at form) (form, error) {
	p.skip()
	switch c, _ := p.peek(); c {
	case '{':
		return p.collection(at, set, c)
	case '"':
		return p.string(at, symbol)
	case '<':
		return form{}, p.errorf("#<…> cannot be read by anybody: print it with a newer Clojure, or take it out")
	case '#':
		p.skip() // ##Inf, ##NaN
		return p.token(at)
	}
	if err := p.tag(); err != nil {
		return form{}, err
	}
	if err := p.deeper(); err != nil {
		return form{}, err
	}
	defer func() { p.depth-- }()
	return p.form()
}

// tag moves past the name of a tag.
func (p *edn) tag() error {
	name, err := p.token(form{})
	if err == nil && name.text == "" && name.kind != keyword {
		err = p.errorf("# without a tag")
	}
	return err
}

func (p *edn) deeper() error {
	if p.depth++; p.depth > deepest {
		return p.errorf("nested deeper than %d", deepest)
	}
	return nil
}

var closing = map[byte]byte{'[': ']', '(': ')', '{': '}'}

func (p *edn) collection(f form, k kind, open byte) (form, error) {
	if err := p.deeper(); err != nil {
		return form{}, err
	}
	defer func() { p.depth-- }()
	p.skip()
	f.kind = k
	for count := 0; ; count++ {
		c, ok, err := p.blank()
		switch {
		case err != nil:
			return form{}, err
		case !ok:
			return form{}, p.cut()
		case c == closing[open]:
			if k == dict && count%2 == 1 {
				return form{}, p.errorf("a map with a key and no value")
			}
			p.skip()
			return f, nil
		}
		item, err := p.form()
		if err != nil {
			return form{}, err
		}
		if p.left >= 0 {
			f.items = append(f.items, item)
		} else {
			f.items = nil
		}
	}
}

var escapes = map[byte]byte{'t': '\t', 'r': '\r', 'n': '\n', 'b': '\b', 'f': '\f', '\\': '\\', '"': '"'}

func (p *edn) string(f form, k kind) (form, error) {
	p.skip()
	p.text = p.text[:0]
	for {
		c, ok := p.peek()
		switch {
		case !ok:
			return form{}, p.cut()
		case c == '"':
			p.skip()
			if k == text && !utf8.Valid(p.text) {
				return form{}, f.errorf("a string that is no UTF-8")
			}
			if f.kind = k; p.left >= 0 {
				f.text = string(p.text)
			}
			return f, nil
		case c == '\\':
			if err := p.escape(k == symbol); err != nil {
				return form{}, err
			}
		case c <= ' ': // among them an end of a line
			if err := p.keep(); err != nil {
				return form{}, err
			}
		default:
			if err := p.run(quoteStops); err != nil {
				return form{}, err
			}
		}
	}
}

// What ends a run of plain bytes: in a string, and in a name or a number.
var quoteStops, tokenStops = stopsAt(`"\\`), stopsAt(",;()[]{}\"\\")

// escape reads \n and the like; of a regular expression any.
func (p *edn) escape(any bool) error {
	p.skip()
	c, ok := p.peek()
	if !ok {
		return p.cut()
	}
	if any {
		return p.keep()
	}
	if c == 'u' {
		p.skip()
		return p.unicode()
	}
	plain, ok := escapes[c]
	if !ok {
		return p.errorf("\\%c is no escape of a string", c)
	}
	return p.keepAs(plain)
}

// token reads a number, a name or a character.
func (p *edn) token(f form) (form, error) {
	p.text = p.text[:0]
	if c, ok := p.peek(); ok && c == '\\' { // the next byte belongs to it whatever it is
		if err := p.keep(); err != nil {
			return form{}, err
		}
		if _, ok := p.peek(); !ok {
			return form{}, p.cut()
		}
		if err := p.keep(); err != nil {
			return form{}, err
		}
	}
	if err := p.rest(); err != nil {
		return form{}, err
	}
	if p.left < 0 && f.line > 0 {
		return f, nil
	}
	w, err := p.word(f)
	f.kind, f.text = w.kind, w.text
	return f, err
}

// rest reads a token to its end.
func (p *edn) rest() error {
	for {
		c, ok := p.peek()
		if !ok { // nothing ends in the middle of a word
			return p.cut()
		}
		if tokenStops[c] {
			return nil
		}
		if err := p.run(tokenStops); err != nil {
			return err
		}
	}
}
