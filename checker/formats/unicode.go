package formats

import (
	"unicode/utf16"
	"unicode/utf8"
)

// unicode reads the four digits of \uXXXX, and a second such where the first is
// half of a pair.
func (s *source) unicode() error {
	r, err := s.hex()
	if err != nil {
		return err
	}
	if utf16.IsSurrogate(r) {
		for _, want := range []byte(`\u`) {
			if c, ok := s.peek(); !ok || c != want {
				return s.errorf("half of a pair of \\u")
			}
			s.skip()
		}
		low, err := s.hex()
		if err != nil {
			return err
		}
		if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
			return s.errorf("half of a pair of \\u")
		}
	}
	if len(s.text) >= longestText {
		return s.errorf("longer than %d bytes", longestText)
	}
	s.text = utf8.AppendRune(s.text, r)
	return nil
}

func (s *source) hex() (r rune, err error) {
	for range 4 {
		c, ok := s.peek()
		switch {
		case !ok:
			return 0, s.cut()
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, s.errorf("\\u wants four hexadecimal digits")
		}
		s.skip()
	}
	return r, nil
}
