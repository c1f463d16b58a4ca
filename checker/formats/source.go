package formats

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// The limits of what one file may hold, so that memory stays bounded whatever
// it says. Nothing that a recorder writes comes near them.
const (
	longestText = 1 << 20 // bytes of one string, name or number
	deepest     = 100     // collections inside of each other
	mostForms   = 256     // forms that one value is built of; a larger one is only skipped over
)

// Error is a fault of a file: where, and why it cannot be believed.
type Error struct {
	File   string
	Line   int // from 1; 0: the file as a whole
	Column int // in bytes, from 1; 0: the line as a whole
	Err    error
}

// Error tells the place, as far as it is known, and the reason.
func (e *Error) Error() string {
	place := e.File
	if e.Line > 0 {
		place = strings.TrimPrefix(fmt.Sprintf("%s: line %d", place, e.Line), ": ")
	}
	if e.Line > 0 && e.Column > 0 {
		place += fmt.Sprintf(", column %d", e.Column)
	}
	return fmt.Sprintf("%s: %v", place, e.Err)
}

// Unwrap gives the reason.
func (e *Error) Unwrap() error { return e.Err }

// ErrTruncated says that a file ends in the middle of an operation, as one does
// that is still being written.
var ErrTruncated = errors.New("the file is cut off here: it is still being written, or its writer was killed")

// source reads bytes and knows where it is.
type source struct {
	in       io.Reader
	buf      []byte
	pos, end int
	line     int
	column   int // of the next byte
	failed   error
	text     []byte // of the token or string that is being read
}

func newSource(in io.Reader) *source {
	return &source{in: in, buf: make([]byte, 64<<10), line: 1, column: 1}
}

// sourceOf reads what stands in b, which is one piece of a line.
func sourceOf(b []byte, line, column int) *source {
	return &source{buf: b, end: len(b), failed: io.EOF, line: line, column: column}
}

// peek is the next byte; false: there is none, or reading failed.
func (s *source) peek() (byte, bool) {
	if s.pos == s.end && !s.fill() {
		return 0, false
	}
	return s.buf[s.pos], true
}

func (s *source) fill() bool {
	for s.failed == nil {
		n, err := s.in.Read(s.buf)
		s.pos, s.end, s.failed = 0, n, err
		if n > 0 {
			return true
		}
	}
	return false
}

// second is the byte after the one that peek showed, 0 if there is none.
func (s *source) second() byte {
	if s.pos+1 == s.end && s.failed == nil {
		rest := s.buf[s.pos]
		s.buf[0], s.pos, s.end = rest, 0, 1
		for s.failed == nil && s.end == 1 {
			var n int
			n, s.failed = s.in.Read(s.buf[1:])
			s.end += n
		}
	}
	if s.pos+1 == s.end {
		return 0
	}
	return s.buf[s.pos+1]
}

// skip moves past the byte that peek showed.
func (s *source) skip() {
	s.column++
	if s.buf[s.pos] == '\n' {
		s.line, s.column = s.line+1, 1
	}
	s.pos++
}

// keep moves past the byte that peek showed, and adds it to the text.
func (s *source) keep() error { return s.keepAs(s.buf[s.pos]) }

// keepAs moves past the byte that peek showed, and adds what it stands for.
func (s *source) keepAs(b byte) error {
	if len(s.text) >= longestText {
		return s.errorf("longer than %d bytes", longestText)
	}
	s.text = append(s.text, b)
	s.skip()
	return nil
}

// stops are bytes at which a run ends.
type stops [256]bool

func stopsAt(bytes string) *stops {
	var all stops
	for c := range 256 {
		all[c] = c <= ' ' || strings.IndexByte(bytes, byte(c)) >= 0
	}
	return &all
}

// run adds the bytes that are at hand and are no stops to the text. None may be a line's end.
func (s *source) run(until *stops) error {
	n := s.pos
	for n < s.end && !until[s.buf[n]] {
		n++
	}
	if len(s.text)+n-s.pos > longestText {
		return s.errorf("longer than %d bytes", longestText)
	}
	s.text = append(s.text, s.buf[s.pos:n]...)
	s.column += n - s.pos
	s.pos = n
	return nil
}

func (s *source) errorf(format string, args ...any) error {
	return &Error{Line: s.line, Column: s.column, Err: fmt.Errorf(format, args...)}
}

// cut is the error of a file that ends too early, or of one that cannot be read.
func (s *source) cut() error {
	if s.failed != nil && !errors.Is(s.failed, io.EOF) {
		return s.failed
	}
	return &Error{Line: s.line, Column: s.column, Err: ErrTruncated}
}
