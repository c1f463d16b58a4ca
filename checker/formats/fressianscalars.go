package formats

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf16"
)

// packedInt reads a number whose first bits stand in its code.
func (p *fressian) packedInt(code byte) (int64, error) {
	if code == codeMinusOne {
		return -1, nil
	}
	if code == codeInt {
		n, err := p.raw(8)
		return int64(n), err
	}
	for _, c := range []struct {
		below, zero byte
		bytes       int
	}{{0x40, 0, 0}, {0x60, 0x50, 1}, {0x70, 0x68, 2}, {0x74, 0x72, 3}, {0x78, 0x76, 4}, {0x7C, 0x7A, 5}, {0x80, 0x7E, 6}} {
		if code < c.below {
			n, err := p.raw(c.bytes)
			return (int64(code)-int64(c.zero))<<(8*c.bytes) | int64(n), err
		}
	}
	return 0, p.errorf("%#x begins no whole number", code)
}

// count reads a whole number that says how many, at most so many.
func (p *fressian) count(most int) (int, error) {
	code, err := p.code()
	if err != nil {
		return 0, err
	}
	n, err := p.packedInt(code)
	if err == nil && (n < 0 || n > int64(most)) {
		err = p.errorf("a length or an index of %d, where at most %d is possible", n, most)
	}
	return int(n), err
}

func (p *fressian) number(code byte) (form, error) {
	n := map[byte]float64{codeDouble1: 1}[code]
	switch code {
	case codeFloat:
		bits, err := p.raw(4)
		if err != nil {
			return form{}, err
		}
		n = float64(math.Float32frombits(uint32(bits)))
	case codeDouble:
		bits, err := p.raw(8)
		if err != nil {
			return form{}, err
		}
		n = math.Float64frombits(bits)
	}
	text := strconv.FormatFloat(n, 'g', -1, 64)
	if !strings.ContainsAny(text, ".eN") && !math.IsInf(n, 0) {
		text += ".0"
	}
	if !isFraction(text) { // an infinity, or no number
		return p.of(symbol, text), nil
	}
	return p.of(fraction, text), nil
}

// chars reads a string or bytes, in one piece or in several.
func (p *fressian) chars(code byte) (form, error) {
	of, first, chunk := text, byte(codeString), byte(codeStringChunk)
	if code < codeString {
		of, first, chunk = symbol, codeBytes, codeBytesChunk
	}
	var all []byte
	for {
		n := int(code) - int(first)
		if code < first || code > chunk+1 {
			return form{}, p.errorf("%#x goes on with no text", code)
		}
		var err error
		if code >= chunk {
			if n, err = p.count(len(p.in)); err != nil {
				return form{}, err
			}
		}
		piece, err := p.take(n)
		if err != nil {
			return form{}, err
		}
		if all = append(all, piece...); len(all) > longestText {
			return form{}, p.errorf("longer than %d bytes", longestText)
		}
		if code != chunk {
			break
		}
		if code, err = p.code(); err != nil {
			return form{}, err
		}
	}
	if of == symbol {
		return p.of(symbol, string(all)), nil
	}
	s, err := p.utf8(all)
	return p.of(text, s), err
}

// utf8 reads what Fressian writes of a string: each unit of its UTF-16 by itself.
func (p *fressian) utf8(b []byte) (string, error) {
	units := make([]uint16, 0, len(b))
	for i := 0; i < len(b); i++ {
		c, more := b[i], 0
		u := uint16(c)
		switch {
		case c >= 0xC0 && c < 0xE0:
			u, more = uint16(c&0x1F), 1
		case c >= 0xE0 && c < 0xF0:
			u, more = uint16(c&0x0F), 2
		case c >= 0x80:
			return "", p.errorf("a string that is no text")
		}
		for ; more > 0; more-- {
			if i++; i == len(b) || b[i]&0xC0 != 0x80 {
				return "", p.errorf("a string that is no text")
			}
			u = u<<6 | uint16(b[i]&0x3F)
		}
		units = append(units, u)
	}
	return string(utf16.Decode(units)), nil
}

// bigInt is the text of a number of any size, from its bytes.
func bigInt(b string) string {
	n := new(big.Int).SetBytes([]byte(b))
	if b != "" && b[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return n.String()
}
