package formats

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// kind is what sort of thing a form is, in EDN and in JSON alike.
type kind uint8

const (
	absent kind = iota // it was not there at all
	null
	boolean
	whole
	fraction
	text
	keyword
	symbol // names, characters, regular expressions: they are no values
	list   // vectors, lists, arrays
	dict   // keys and values take turns in items
	set
	large    // more than mostForms: it was skipped over
	blockRef // of Jepsen's file: what it stands for is the block of that number
)

var kinds = [...]string{"nothing", "nil", "a truth value", "a whole number", "a number", "a string", "a keyword",
	"a name", "a list", "a map", "a set", "a large collection", "a block"}

func (k kind) String() string { return kinds[k] }

// form is one piece of EDN or JSON.
type form struct {
	kind   kind
	text   string // of what is no collection, without quotes and colon
	items  []form
	line   int
	column int
}

func (f form) errorf(format string, args ...any) error {
	return &Error{Line: f.line, Column: f.column, Err: fmt.Errorf(format, args...)}
}

// nothing says whether there is no value.
func (f form) nothing() bool { return f.kind == absent || f.kind == null }

// int is a whole number that fits into 64 bits.
func (f form) int(what string) (int64, error) {
	if f.kind != whole {
		return 0, f.errorf("%s: want a whole number, got %v", what, f.kind)
	}
	n, err := strconv.ParseInt(f.text, 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		return 0, f.errorf("%s %s: beyond 64 bits", what, clip(f.text))
	}
	if err != nil {
		return 0, f.errorf("%s: %s is no whole number", what, clip(f.text))
	}
	return n, nil
}

// furthest is the greatest number of nanoseconds that a lease may have, 36 years, and latest
// that a time may: 146 years, so that those since 1970 are among them, and leases can be
// added to them.
const furthest, latest = 1 << 60, 1 << 62

// numeral is the number of a string that is nothing but one, as JSON has those beyond 53 bits.
func (f form) numeral() form {
	if f.kind == text && isWhole(f.text) {
		f.kind = whole
	}
	return f
}

// count is a whole number that is not negative and leaves room to reckon with.
func (f form) count(what string, most int64) (int64, error) {
	n, err := f.int(what)
	if err == nil && (n < 0 || n > most) {
		err = f.errorf("%s %d: want 0 to %d", what, n, most)
	}
	return n, err
}

// name is the text of a keyword, a string or a symbol.
func (f form) name(what string) (string, error) {
	if f.kind != keyword && f.kind != text && f.kind != symbol {
		return "", f.errorf("%s: want a name, got %v", what, f.kind)
	}
	return f.text, nil
}

// String is the form as people read it, in a note or an error.
func (f form) String() string {
	switch f.kind {
	case absent, null:
		return ""
	case keyword:
		return ":" + f.text
	case list, set, dict:
		parts := make([]string, len(f.items))
		for i, item := range f.items {
			parts[i] = item.String()
			if item.kind == null {
				parts[i] = "nil"
			}
		}
		open := map[kind]string{list: "[]", set: "{}", dict: "{}"}[f.kind]
		return open[:1] + strings.Join(parts, " ") + open[1:]
	case large:
		return "(a large collection)"
	}
	return f.text
}

// scalar is the text by which a value is told from others; nil is "".
func (f form) scalar(what string) (string, error) {
	switch f.kind {
	case absent, null:
		return "", nil
	case boolean, whole, fraction, text:
		return f.text, nil
	case keyword:
		return ":" + f.text, nil
	case symbol:
		return f.text, nil
	case list, dict, set:
		return f.joined(what)
	}
	return "", f.errorf("%s: want a value of moderate size, got %v", what, f.kind)
}

// joined is the text by which a collection is told from others: in it strings are quoted, and
// what has no order is sorted.
func (f form) joined(what string) (string, error) {
	var parts []string
	for i := range f.items {
		s, err := f.items[i].scalar(what)
		switch {
		case err != nil:
			return "", err
		case f.items[i].kind == null:
			s = "nil"
		case f.items[i].kind == text:
			s = strconv.Quote(s)
		}
		if f.kind == dict && i%2 == 1 {
			parts[len(parts)-1] += " " + s
			continue
		}
		parts = append(parts, s)
	}
	if f.kind != list {
		slices.Sort(parts)
	}
	open := map[kind]string{list: "[]", set: "#{}", dict: "{}"}[f.kind]
	return open[:len(open)-1] + strings.Join(parts, " ") + open[len(open)-1:], nil
}

// bare says whether s is what scalar gives for something that is no string: a
// string of that text could not be told from it.
func bare(s string) bool {
	if s == "true" || s == "false" {
		return true
	}
	if name, ok := strings.CutPrefix(s, ":"); ok {
		return name != "" && strings.IndexByte(":/", name[0]) < 0 && strings.IndexByte(":/", name[len(name)-1]) < 0 &&
			!strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("()[]{}\",;#\\^`~@", r) })
	}
	return isWhole(s) || isFraction(s) && decimal(s) == s
}

// isWhole says whether s is a whole number as every printer writes it.
func isWhole(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	if digits == "" || len(digits) > 1 && digits[0] == '0' || s == "-0" {
		return false
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return false
		}
	}
	return true
}

func isFraction(s string) bool {
	if strings.Trim(s, "+-.eE0123456789") != "" || !strings.ContainsAny(s, ".eE") {
		return false
	}
	digits := strings.TrimPrefix(s, "-")
	if digits == "" || digits[0] < '0' || digits[0] > '9' {
		return false
	}
	n, err := strconv.ParseFloat(s, 64)
	return err == nil && !math.IsInf(n, 0)
}

// decimal is the shortest text of a number with a point or an exponent, so that 1.50 and 15e-1 are one value, and 1.0 is 1.
// One of more digits than a float can tell apart stays as it is.
func decimal(s string) string {
	if len(s) > 15 {
		return s
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return s
	}
	if short := strconv.FormatFloat(n, 'f', -1, 64); len(short) <= 15 {
		return short
	}
	return strconv.FormatFloat(n, 'e', -1, 64)
}

// clip shortens a text from a file for an error.
func clip(s string) string {
	if len(s) > 40 {
		return strconv.Quote(s[:40]) + "…"
	}
	return strconv.Quote(s)
}
