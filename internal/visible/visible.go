// Package visible shows what others wrote as it is: no character in it moves a cursor,
// colours, hides, turns the direction of the text beside it, or is a command to the
// machine that reads a log. Names, messages and what programs print come from code under
// test, from adapters, servers and folders that came with a bug report.
package visible

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
)

// Hidden says that a character does something instead of being seen: controls (all but
// line feed and tab), direction marks, characters without width, tags.
func Hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x7f:
		return r < ' '
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Noncharacter_Code_Point) || unicode.Is(blank, r)
}

// blank are letters and marks that show nothing: the fillers of Hangul, an empty Braille
// pattern, Khmer vowels that are not written, Mongolian and supplementary selectors of
// variants. (The 16 common selectors choose between a sign and its emoji.)
var blank = &unicode.RangeTable{
	R16: []unicode.Range16{{Lo: 0x034f, Hi: 0x034f, Stride: 1}, {Lo: 0x115f, Hi: 0x1160, Stride: 1}, {Lo: 0x17b4, Hi: 0x17b5, Stride: 1},
		{Lo: 0x180b, Hi: 0x180f, Stride: 1}, {Lo: 0x2065, Hi: 0x2065, Stride: 1}, {Lo: 0x2800, Hi: 0x2800, Stride: 1}, {Lo: 0x3164, Hi: 0x3164, Stride: 1},
		{Lo: 0xffa0, Hi: 0xffa0, Stride: 1}, {Lo: 0xfff0, Hi: 0xfff8, Stride: 1}},
	R32: []unicode.Range32{{Lo: 0xe0000, Hi: 0xe0fff, Stride: 1}},
}

// Dot stands for a hidden character where the width of a text matters.
const Dot = '·'

// Text has a dot for each hidden character, and for what is no UTF-8. Line ends stay.
func Text(s string) string { return strings.Map(dotted, s) }

// Line is Text on one line: a name, say, that must not look like a line of ours.
func Line(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return Dot
		}
		return dotted(r)
	}, s)
}

func dotted(r rune) rune {
	if Hidden(r) {
		return Dot
	}
	return r // what is no UTF-8 has become U+FFFD
}

// escape names a hidden character as JSON does, which a reader of JSON turns back into it.
func escape(r rune) string {
	if a, b := utf16.EncodeRune(r); a != unicode.ReplacementChar {
		return fmt.Sprintf(`\u%04x\u%04x`, a, b)
	}
	return fmt.Sprintf(`\u%04x`, r)
}
