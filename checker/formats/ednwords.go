package formats

import (
	"strings"
	"unicode/utf8"
)

// word is a token that was read: what it is, and which field of an operation it names.
type word struct {
	written string
	kind    kind
	text    string
	which   told
	other   bool // it is one of the field's other names
}

// wordsKept is how many words and strings are kept, so that one that comes again is not made
// again, and longestKept how long they may be. One takes the place of another of the same hash.
const wordsKept, longestKept = 1 << 9, 32

type wordTable struct {
	words [wordsKept]word
	texts [wordsKept]string
}

func placeOf(b []byte) uint32 {
	place := uint32(len(b))
	for _, c := range b {
		place = 31*place + uint32(c)
	}
	return (place ^ place>>9) % wordsKept
}

// string is b as a string.
func (t *wordTable) string(b []byte) string {
	if len(b) > longestKept {
		return string(b)
	}
	kept := &t.texts[placeOf(b)]
	if *kept != string(b) {
		*kept = string(b)
	}
	return *kept
}

// word says what the token is that was read.
func (p *edn) word(f form) (word, error) {
	w, err := p.known(p.text)
	if err != nil {
		_, err = f.classify(string(p.text)) // with its place
	}
	return w, err
}

// known says what a token is. Its error has no place.
func (p *edn) known(b []byte) (word, error) {
	if len(b) > longestKept || p.table == nil {
		return p.wordOf(string(b))
	}
	kept := &p.table.words[placeOf(b)]
	if kept.written == string(b) && len(b) > 0 {
		return *kept, nil
	}
	w, err := p.wordOf(string(b))
	if err == nil {
		*kept = w
	}
	return w, err
}

func (p *edn) wordOf(written string) (word, error) {
	f, err := form{}.classify(written)
	w := word{written: written, kind: f.kind, text: f.text}
	if f.kind == keyword {
		w.which, w.other = fieldOf(f.text, p.own)
	}
	return w, err
}

// classify says what a token is.
func (f form) classify(s string) (form, error) {
	f.text = s
	switch {
	case !utf8.ValidString(s):
		return f, f.errorf("a name that is no UTF-8")
	case s == "nil":
		f.kind, f.text = null, ""
	case s == "true", s == "false":
		f.kind = boolean
	case strings.HasPrefix(s, ":"):
		f.kind, f.text = keyword, s[1:]
		if s == ":" {
			return f, f.errorf("a keyword without a name")
		}
	case s != "" && (s[0] >= '0' && s[0] <= '9' || len(s) > 1 && strings.IndexByte("+-", s[0]) >= 0 && s[1] >= '0' && s[1] <= '9'):
		return f.number(s)
	default:
		f.kind = symbol
	}
	return f, nil
}

// number reads 3, -3, 3N, 1.5, 1.5M; what only Clojure knows (0x1f, 1/3) is a symbol.
func (f form) number(s string) (form, error) {
	plain := strings.TrimPrefix(s, "+")
	switch {
	case isWhole(strings.TrimSuffix(plain, "N")):
		f.kind, f.text = whole, strings.TrimSuffix(plain, "N")
	case isFraction(strings.TrimSuffix(plain, "M")):
		f.kind, f.text = fraction, strings.TrimSuffix(plain, "M")
	default:
		f.kind = symbol
	}
	return f, nil
}
