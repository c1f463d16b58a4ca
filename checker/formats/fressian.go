package formats

import (
	"encoding/binary"
	"fmt"
	"strconv"
)

// fressian reads Fressian, the binary form of Clojure's values in which Jepsen stores a
// test. Its codes and their meaning are those of its published specification.
type fressian struct {
	in      []byte
	at      int
	depth   int
	left    int // forms that may still be built; below 0: only skip
	line    int // of what is read, for errors
	objects []cachedForm
	structs []structType
}

// cachedForm is a form that is written once and named by its number afterwards.
type cachedForm struct {
	form
	size  int // in forms
	ready bool
}

type structType struct {
	tag    string
	fields int
}

// Codes of Fressian. Those between them have a length or an index packed into them.
const (
	codeObject, codeStruct               = 0x80, 0xA0 // of the caches
	codeMap, codeSet, codeUUID           = 0xC0, 0xC1, 0xC3
	codeKey                              = 0xCA
	codeGetObject, codePutObject         = 0xCC, 0xCD
	codeFooter                           = 0xCF
	codeBytes, codeBytesChunk            = 0xD0, 0xD8
	codeString, codeStringChunk          = 0xDA, 0xE2
	codeList, codeClosedList             = 0xE4, 0xED
	codeOpenList, codeStructType         = 0xEE, 0xEF
	codeStructByIndex                    = 0xF0
	codeTrue, codeFalse, codeNull        = 0xF5, 0xF6, 0xF7
	codeInt, codeFloat, codeDouble       = 0xF8, 0xF9, 0xFA
	codeDouble0, codeDouble1, codeEnding = 0xFB, 0xFC, 0xFD
	codeReset, codeMinusOne              = 0xFE, 0xFF
)

// coreTags are the structs that have a code of their own, and how many objects follow.
var coreTags = map[byte]structType{
	0xB0: {"long[]", -1}, 0xB1: {"double[]", -1}, 0xB2: {"boolean[]", -1}, 0xB3: {"int[]", -1}, 0xB4: {"float[]", -1}, 0xB5: {"Object[]", -1},
	codeMap: {"map", 1}, codeSet: {"set", 1}, codeUUID: {"uuid", 1}, 0xC4: {"regex", 1}, 0xC5: {"uri", 1}, 0xC6: {"bigint", 1},
	0xC7: {"bigdec", 2}, 0xC8: {"inst", 1}, 0xC9: {"sym", 2}, codeKey: {"key", 2},
}

func (p *fressian) errorf(format string, args ...any) error {
	return &Error{Line: p.line, Err: fmt.Errorf("its Fressian, at byte %d of the block: %w", p.at, fmt.Errorf(format, args...))}
}

// take moves past n bytes.
func (p *fressian) take(n int) ([]byte, error) {
	if n < 0 || n > len(p.in)-p.at {
		return nil, p.errorf("%w", ErrTruncated)
	}
	b := p.in[p.at : p.at+n]
	p.at += n
	return b, nil
}

// raw reads a whole number of n bytes that has no sign.
func (p *fressian) raw(n int) (uint64, error) {
	b, err := p.take(n)
	if err != nil {
		return 0, err
	}
	var all [8]byte
	copy(all[8-n:], b)
	return binary.BigEndian.Uint64(all[:]), nil
}

// value reads one form and builds at most that many.
func (p *fressian) value(most int) (form, error) {
	p.left = most
	return p.form()
}

func (p *fressian) code() (byte, error) {
	b, err := p.take(1)
	if err != nil {
		return 0, err
	}
	return b[0], nil
}

func (p *fressian) form() (form, error) {
	code, err := p.code()
	if err != nil {
		return form{}, err
	}
	return p.coded(code)
}

// coded reads the form that begins with a code.
func (p *fressian) coded(code byte) (form, error) {
	if p.depth++; p.depth > deepest {
		return form{}, p.errorf("nested deeper than %d", deepest)
	}
	defer func() { p.depth-- }()
	if p.left >= 0 {
		p.left--
	}
	s, is, err := p.structOf(code)
	switch {
	case err != nil:
		return form{}, err
	case is:
		return p.tagged(s)
	case code < codeObject, code == codeInt, code == codeMinusOne:
		n, err := p.packedInt(code)
		return p.of(whole, strconv.FormatInt(n, 10)), err
	case code < codeStruct:
		return p.cached(int(code - codeObject))
	case code >= codeBytes && code < codeString, code >= codeString && code < codeList:
		return p.chars(code)
	case code >= codeList && code <= codeOpenList:
		return p.listed(code)
	}
	return p.special(code)
}

// special reads what is neither a number, nor a collection, nor a text.
func (p *fressian) special(code byte) (form, error) {
	switch code {
	case codeGetObject:
		n, err := p.count(len(p.objects))
		if err != nil {
			return form{}, err
		}
		return p.cached(n)
	case codePutObject:
		return p.put()
	case codeTrue:
		return p.of(boolean, "true"), nil
	case codeFalse:
		return p.of(boolean, "false"), nil
	case codeNull:
		return p.of(null, ""), nil
	case codeFloat, codeDouble, codeDouble0, codeDouble1:
		return p.number(code)
	case codeReset, codeFooter:
		if code == codeFooter { // its magic, length and checksum: the block has a checksum of its own
			if _, err := p.take(11); err != nil {
				return form{}, err
			}
		}
		p.objects, p.structs = nil, nil
		return p.form()
	}
	return form{}, p.errorf("%#x is no code", code)
}

func (p *fressian) of(k kind, text string) form { return form{kind: k, text: text, line: p.line} }

// listed reads a list of any kind.
func (p *fressian) listed(code byte) (form, error) {
	f := p.of(list, "")
	err := p.elements(code, func(code byte) error {
		item, err := p.coded(code)
		if err == nil && p.left >= 0 {
			f.items = append(f.items, item)
		}
		return err
	})
	return p.bound(f), err
}

// bound makes a collection of which too much was left out one that says so.
func (p *fressian) bound(f form) form {
	if p.left < 0 {
		f.kind, f.items = large, nil
	}
	return f
}

// elements calls one with the code of each element of the list that begins with a code.
func (p *fressian) elements(code byte, one func(code byte) error) error {
	n := int(code) - codeList
	switch {
	case code < codeList || code > codeOpenList:
		return p.errorf("%#x begins no list", code)
	case code == codeList+8:
		var err error
		if n, err = p.count(len(p.in)); err != nil {
			return err
		}
	case code > codeList+8:
		n = -1
	}
	for ; n != 0; n-- {
		if n < 0 && code == codeOpenList && p.at == len(p.in) {
			return nil
		}
		next, err := p.code()
		if err != nil {
			return err
		}
		if n < 0 && next == codeEnding {
			return nil
		}
		if err := one(next); err != nil {
			return err
		}
	}
	return nil
}

// put reads a form that is named by its number from here on.
func (p *fressian) put() (form, error) {
	i, before := len(p.objects), p.left
	p.objects = append(p.objects, cachedForm{})
	f, err := p.form()
	if err == nil && i < len(p.objects) { // else the caches were emptied in between
		p.objects[i] = cachedForm{f, max(before-p.left, 1), true}
	}
	return f, err
}

func (p *fressian) cached(i int) (form, error) {
	if i >= len(p.objects) || !p.objects[i].ready {
		return form{}, p.errorf("object %d of the cache is not there", i)
	}
	c := p.objects[i]
	if p.left >= 0 {
		p.left = max(p.left-c.size, -1)
	}
	c.line = p.line
	return c.form, nil
}

// structOf finds the struct that begins with a code; is: it begins one.
func (p *fressian) structOf(code byte) (s structType, is bool, err error) {
	i := int(code) - codeStruct
	switch {
	case coreTags[code].tag != "":
		return coreTags[code], true, nil
	case code == codeStructType:
		tag, err := p.form()
		if err != nil {
			return s, true, err
		}
		s = structType{tag: tag.text}
		if s.fields, err = p.count(len(p.in)); err == nil {
			p.structs = append(p.structs, s)
		}
		return s, true, err
	case code == codeStructByIndex:
		if i, err = p.count(len(p.structs)); err != nil {
			return s, true, err
		}
	case code < codeStruct || code >= codeStruct+16:
		return s, false, nil
	}
	if i >= len(p.structs) {
		return s, true, p.errorf("struct %d of the cache is not there", i)
	}
	return p.structs[i], true, nil
}
