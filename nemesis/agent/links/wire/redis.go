package wire

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// resp reads Redis' protocol, RESP2 and RESP3, either direction. A command is
// named by its first word in capitals; a reply by its first line: "+OK", "-ERR",
// ":1", "$5", "*2". Body is the raw message, so keys and arguments are in it.
type resp struct {
	at    int64   // where the current message begins
	seen  int64   // bytes of it so far
	body  []byte  // the first of them
	line  []byte  // the header line being read
	skip  int64   // bytes of a bulk string, its CRLF included, still to come
	todo  []int64 // values still to come, of each aggregate that is open
	words int     // values begun so far in this message
	name  []byte  // at most nameMax
	array bool    // the message is an array: its first bulk string names it
	err   error
}

func newResp() *resp { return &resp{} }

// lineMax bounds a header or an inline command, as Redis itself does (64 KiB).
const lineMax = 64 << 10

// depthMax bounds arrays in arrays, far above what any command or reply nests.
const depthMax = 1024

// nameMax bounds the name of a message: no command's is longer.
const nameMax = 64

// Feed implements Parser.
func (r *resp) Feed(b []byte) (done []Message, err error) {
	for r.err == nil && len(b) > 0 {
		n := r.take(b)
		r.keep(b[:n])
		b = b[n:]
		if r.err == nil && r.complete() {
			done = append(done, r.finish())
		}
	}
	return done, r.err
}

// Kept implements Parser.
func (r *resp) Kept() int { return cap(r.body) + cap(r.line) + 8*cap(r.todo) }

// keep remembers what has been read.
func (r *resp) keep(b []byte) {
	r.seen += int64(len(b))
	r.body = append(r.body, b[:min(len(b), max(BodyMax-len(r.body), 0))]...)
}

// take reads a part of one header line or of one bulk string and says how much.
func (r *resp) take(b []byte) int {
	if r.skip > 0 {
		n := int(min(r.skip, int64(len(b))))
		r.bulk(b[:n])
		if r.skip -= int64(n); r.skip == 0 {
			r.value()
		}
		return n
	}
	end := bytes.IndexByte(b, '\n')
	if end < 0 {
		end = len(b) - 1
	}
	r.line = append(r.line, b[:end+1]...)
	if len(r.line) > lineMax {
		r.err = fmt.Errorf("redis: a line of more than %d bytes at byte %d", lineMax, r.at)
	} else if b[end] == '\n' {
		r.header(strings.TrimRight(string(r.line), "\r\n"))
		r.line = nil
	}
	return end + 1
}

// bulk is given the content of a bulk string; the first of an array is its name.
func (r *resp) bulk(b []byte) {
	if r.array && r.words == 2 {
		r.called(b)
	}
}

func (r *resp) called(b []byte) {
	r.name = append(r.name, b[:min(len(b), nameMax-len(r.name))]...)
}

// header reads the line that begins a value.
func (r *resp) header(line string) {
	fields := strings.Fields(line)
	if len(fields) == 0 { // an empty line between inline commands
		r.name = []byte("EMPTY")
		r.err = r.outside(line)
		return
	}
	r.words++
	kind, rest := line[0], line[1:]
	if r.words == 1 {
		r.array = kind == '*'
		if !r.array {
			r.called([]byte(fields[0]))
		}
	}
	switch kind {
	case '$', '=', '!':
		r.opens(rest, func(n int64) { r.skip = n + 2 })
	case '*', '~', '>':
		r.opens(rest, func(n int64) { r.todo = append(r.todo, n) })
	case '%', '|':
		r.opens(rest, func(n int64) { r.todo = append(r.todo, 2*n) })
	case '+', '-', ':', '_', ',', '#', '(':
		r.value()
	default: // an inline command
		r.name = bytes.ToUpper(r.name)
		r.err = r.outside(line)
	}
}

// outside refuses a line that can only stand between commands.
func (r *resp) outside(line string) error {
	if len(r.todo) == 0 {
		return nil
	}
	return fmt.Errorf("redis: %.80q where a value begins, in the message at byte %d", line, r.at)
}

// opens reads a length and lets enter begin the value; none (-1) is a whole value.
func (r *resp) opens(length string, enter func(int64)) {
	n, err := strconv.ParseInt(length, 10, 32)
	switch {
	case err != nil || n < -1:
		r.err = fmt.Errorf("redis: length %.80q at byte %d", length, r.at)
	case len(r.todo) == depthMax:
		r.err = fmt.Errorf("redis: more than %d arrays in one another at byte %d", depthMax, r.at)
	case n < 0:
		r.value()
	default:
		enter(n)
		if last := len(r.todo) - 1; last >= 0 && r.todo[last] == 0 { // an empty aggregate
			r.todo = r.todo[:last]
			r.value()
		}
	}
}

// value ends one value, and with it each aggregate that it was the last of.
func (r *resp) value() {
	for len(r.todo) > 0 {
		last := len(r.todo) - 1
		if r.todo[last]--; r.todo[last] > 0 {
			return
		}
		r.todo = r.todo[:last]
	}
}

func (r *resp) complete() bool {
	return len(r.todo) == 0 && r.skip == 0 && len(r.line) == 0 && r.seen > 0
}

func (r *resp) finish() Message {
	name := string(r.name)
	if r.array {
		name = strings.ToUpper(strings.TrimRight(name, "\r\n"))
		if name == "" {
			name = "*"
		}
	}
	m := Message{Name: name, Body: r.body, From: r.at, To: r.at + r.seen}
	*r = resp{at: m.To}
	return m
}
