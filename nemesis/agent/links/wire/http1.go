package wire

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// http1 reads HTTP/1.1 (RFC 9112), either direction. A request is named by its method,
// an answer by its status. Body is the raw message: the path and the fields of the
// header are in it, and the beginning of its content.
type http1 struct {
	request bool
	head    bytes.Buffer // of the current message, until its end is found
	body    []byte       // the first bytes of the message
	name    string
	at      int64 // where the message begins
	seen    int64 // bytes of it so far
	left    int64 // bytes of its content, or of the chunk, still to come
	chunked bool
	inHead  bool   // else in the content
	line    []byte // of a chunk's size, or of the trailer
	trailer bool   // the last chunk has been read
	err     error
}

// headMax bounds the header of a message; net/http allows as much.
const headMax = 1 << 20

func newHTTP1(request bool) Parser { return &http1{request: request, inHead: true} }

// Feed implements Parser.
func (h *http1) Feed(b []byte) (done []Message, err error) {
	for h.err == nil && len(b) > 0 {
		n := h.take(b)
		h.seen += int64(n)
		h.body = append(h.body, b[:min(n, max(BodyMax-len(h.body), 0))]...)
		b = b[n:]
		if h.err == nil && !h.inHead && h.left == 0 && !h.chunked {
			done = append(done, h.finish())
		}
	}
	return done, h.err
}

// Kept implements Parser.
func (h *http1) Kept() int { return h.head.Cap() + cap(h.body) + cap(h.line) }

func (h *http1) finish() Message {
	m := Message{Name: h.name, Body: h.body, From: h.at, To: h.at + h.seen}
	*h = http1{request: h.request, inHead: true, at: m.To}
	return m
}

// take reads a part of b and says how much.
func (h *http1) take(b []byte) int {
	switch {
	case h.inHead:
		return h.takeHead(b)
	case h.left > 0:
		n := int(min(h.left, int64(len(b))))
		h.left -= int64(n)
		return n
	}
	return h.takeLine(b)
}

// takeHead reads to the end of the header, one line at a time.
func (h *http1) takeHead(b []byte) int {
	n := bytes.IndexByte(b, '\n') + 1
	if n == 0 {
		n = len(b)
	}
	h.head.Write(b[:n])
	text := h.head.Bytes()
	switch {
	case len(text) > headMax:
		h.err = errors.New("http1: a header of more than a megabyte")
	case bytes.HasSuffix(text, []byte("\n\r\n")) || bytes.HasSuffix(text, []byte("\n\n")):
		h.inHead = false
		h.err = h.readHead(string(text))
		h.head = bytes.Buffer{}
	}
	return n
}

// readHead finds the name of the message and how its content ends.
func (h *http1) readHead(text string) error {
	first, fields, _ := strings.Cut(text, "\n")
	words := strings.Fields(first)
	if len(words) < 2 || h.request && len(words) != 3 {
		return fmt.Errorf("http1: no first line of a message: %.80q", first)
	}
	version := words[0]
	if h.name = words[1]; h.request {
		h.name, version = words[0], words[2]
	}
	if !strings.HasPrefix(version, "HTTP/1.") || !HTTP1.Names(h.name, h.request) {
		return fmt.Errorf("http1: no first line of a message: %.80q: is it TLS?", first)
	}
	bodiless := !h.request && (h.name[0] == '1' || h.name == "204" || h.name == "304")
	length := int64(0)
	if !h.request && !bodiless {
		length = math.MaxInt64 // to the end of the connection
	}
	for _, field := range strings.Split(fields, "\n") {
		key, value, _ := strings.Cut(field, ":")
		switch value = strings.TrimSpace(value); strings.ToLower(strings.TrimSpace(key)) {
		case "transfer-encoding":
			h.chunked = !bodiless && strings.HasSuffix(strings.ToLower(value), "chunked")
		case "content-length":
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil || n < 0 {
				return fmt.Errorf("http1: Content-Length %.40q", value)
			}
			if !bodiless {
				length = n
			}
		}
	}
	if h.left = length; h.chunked {
		h.left = 0
	}
	return nil
}

// takeLine reads a line between chunks: a size, or after the last one the trailer, which
// an empty line ends.
func (h *http1) takeLine(b []byte) int {
	n := bytes.IndexByte(b, '\n') + 1
	if n == 0 {
		n = len(b)
	}
	if h.line = append(h.line, b[:n]...); len(h.line) > lineMax {
		h.err = errors.New("http1: a chunk's size of more than 64 KiB")
	}
	if h.line[len(h.line)-1] != '\n' {
		return n
	}
	line := strings.TrimSpace(string(h.line))
	h.line = nil
	if h.trailer {
		h.chunked = line != ""
		return n
	}
	size, _, _ := strings.Cut(line, ";")
	length, err := strconv.ParseInt(strings.TrimSpace(size), 16, 63)
	if err != nil || length < 0 || length > math.MaxInt64-2 {
		h.err = fmt.Errorf("http1: a chunk's size %.40q", line)
		return n
	}
	if h.trailer = length == 0; !h.trailer {
		h.left = length + 2 // and the line break after it
	}
	return n
}
