package visible

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Writer passes text on with its hidden characters escaped as \u001b, so it serves plain
// text and JSON alike: in a string of JSON that is the same character, and nothing is
// lost. What is no UTF-8 becomes U+FFFD. It may be used from many goroutines.
type Writer struct {
	to      io.Writer
	console bool
	styles  bool

	mu      sync.Mutex
	rest    []byte // the begin of a character, or of a style, of which more is to come
	out     []byte
	begun   bool // the line has more in it than blanks
	colon   bool // and no more than one colon
	hashes  int  // that stand before what comes, at most two
	command bool // between ## and its bracket
}

// File is for what is read by programs that show text: a log, a page, Markdown, JSON.
func File(to io.Writer) *Writer { return &Writer{to: to} }

// Console is for standard output, standard error and logs. Their lines are also read by
// the machines of CI, as commands: those that begin with :: (GitHub), and ##[, ##vso[ or
// ##teamcity[ anywhere. None of ours does, so one that does is somebody else's.
func Console(to io.Writer) *Writer { return &Writer{to: to, console: true} }

// Styled is Console for text in our own colours, in which what others wrote is without
// any: it passes the few styles that are ours.
func Styled(to io.Writer) *Writer { return &Writer{to: to, console: true, styles: true} }

// Styles are the sequences that Styled passes: plain, bold, faint, red, green, yellow.
var Styles = [][]byte{[]byte("\x1b[0m"), []byte("\x1b[1m"), []byte("\x1b[2m"), []byte("\x1b[31m"), []byte("\x1b[32m"), []byte("\x1b[33m")}

// Write implements io.Writer. What it says it has written is all of b, though a
// character's begin waits for its end.
func (w *Writer) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := b
	if len(w.rest) > 0 {
		text = append(w.rest, b...)
		w.rest = nil
	}
	if _, err := w.to.Write(w.cleaned(text, false)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Flush passes on what was the begin of a character and has no end.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := w.rest
	w.rest = nil
	if len(text) == 0 {
		return nil
	}
	_, err := w.to.Write(w.cleaned(text, true))
	return err
}

// Sync flushes, and makes it durable where what is below can.
func (w *Writer) Sync() error {
	err := w.Flush()
	if s, ok := w.to.(interface{ Sync() error }); ok {
		err = errors.Join(err, s.Sync())
	}
	return err
}

// Close flushes, and closes what is below if that can be.
func (w *Writer) Close() error {
	err := w.Flush()
	if c, ok := w.to.(io.Closer); ok {
		err = errors.Join(err, c.Close())
	}
	return err
}

// cleaned is what may pass of a text. Where it is not the last, an unfinished end is kept.
func (w *Writer) cleaned(text []byte, last bool) []byte {
	out := w.out[:0]
	for len(text) > 0 {
		if n := w.plain(text); n > 0 {
			out, text = append(out, text[:n]...), text[n:]
			continue
		}
		if !last && w.unfinished(text) {
			w.rest = bytes.Clone(text)
			break
		}
		if style := w.style(text); style != nil {
			out, text = append(out, style...), text[len(style):]
			continue
		}
		r, n := utf8.DecodeRune(text)
		switch {
		case Hidden(r) || w.console && w.commands(r):
			out = append(out, escape(r)...)
		default:
			out = utf8.AppendRune(out, r)
		}
		text = text[n:]
	}
	w.out = out[:0]
	return out
}

// plain is how many bytes of a text need no look: ASCII that is seen and, in a console,
// what neither begins a line nor is a command's.
func (w *Writer) plain(text []byte) int {
	for i, c := range text {
		seen := c >= ' ' && c < 0x7f || c == '\t' || c == '\n' && !w.console
		if !seen || w.console && (!w.begun || w.hashes > 0 || w.command || c == '#') {
			return i
		}
	}
	return len(text)
}

// unfinished says that a text begins with what more bytes may make a character or a style.
func (w *Writer) unfinished(text []byte) bool {
	if w.styles {
		for _, s := range Styles {
			if len(text) < len(s) && bytes.HasPrefix(s, text) {
				return true
			}
		}
	}
	return !utf8.FullRune(text)
}

func (w *Writer) style(text []byte) []byte {
	if w.styles {
		for _, s := range Styles {
			if bytes.HasPrefix(text, s) {
				return s
			}
		}
	}
	return nil
}

// commands follows a line, and says that this character would make a command of it.
func (w *Writer) commands(r rune) bool {
	hashes, command, colon, begun := w.hashes, w.command, w.colon, w.begun
	w.hashes, w.command, w.colon = 0, false, false
	switch {
	case r == '\n' || r == '\r':
		w.begun = false
	case r == '#':
		w.hashes = min(hashes+1, 2)
	case (hashes == 2 || command) && unicode.IsLetter(r):
		w.command = true
	case (hashes == 2 || command) && r == '[':
		w.begun = true
		return true
	case !begun && r == ':':
		w.begun, w.colon = colon, !colon
		return colon
	case !begun && !colon && unicode.IsSpace(r):
		return false
	}
	if r != '\n' && r != '\r' && !w.colon {
		w.begun = true
	}
	return false
}
