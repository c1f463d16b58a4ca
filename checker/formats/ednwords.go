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
}

// wordsKept is how many words are kept, so that one that comes again is not made again.
const wordsKept = 256

// word says what the token is that was read.
func (p *edn) word(f form) (word, error) {
	keep := len(p.text) > 0 && p.text[0] > '9' && len(p.text) <= 32 // no number
	if keep {
		if w, known := p.words[string(p.text)]; known {
			return w, nil
		}
	}
	written := string(p.text)
	f, err := f.classify(written)
	w := word{written: written, kind: f.kind, text: f.text}
	if f.kind == keyword {
		w.which = fields[f.text]
	}
	if keep && err == nil && len(p.words) < wordsKept {
		if p.words == nil {
			p.words = map[string]word{}
		}
		p.words[w.written] = w
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
