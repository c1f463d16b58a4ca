package formats

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// head is a reader whose first bytes can be looked at.
type head struct {
	io.Reader
	first []byte
	err   error
}

// looked is how many bytes are looked at to find the format.
const looked = 64 << 10

func newHead(in io.Reader) *head {
	first := make([]byte, looked)
	n, err := io.ReadFull(in, first)
	h := &head{first: first[:n]}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	h.err = err
	h.Reader = io.MultiReader(bytes.NewReader(h.first), in)
	return h
}

func (h *head) peek() []byte { return h.first }

// Detect finds the format of a file from its first bytes.
func Detect(first []byte) (string, error) {
	c, rest, err := opening(first)
	switch {
	case err != nil:
		return "", err
	case c == '{' && bytes.HasPrefix(bytes.TrimLeft(rest[1:], blanks), []byte(`"`)):
		return detectJSON(rest)
	case c == '[' && bytes.HasPrefix(bytes.TrimLeft(rest[1:], blanks), []byte(`{"`)):
		return "elle", nil
	case c == '[' || c == '(' || c == '{' || c == '#':
		return detectEDN(first), nil
	}
	for line := range bytes.Lines(first) {
		if _, found := logged(string(line)); found {
			return "jepsen-log", nil
		}
	}
	return "", errors.New("the format is not known; --format names it, and dlmtest list formats shows all")
}

const blanks = " \t\r\n"

// opening is the first byte that is neither blank nor of a comment.
func opening(first []byte) (byte, []byte, error) {
	switch {
	case len(first) == 0:
		return 0, nil, errors.New("the file is empty")
	case bytes.HasPrefix(first, []byte{0x1f, 0x8b}), bytes.HasPrefix(first, []byte("BZh")), bytes.HasPrefix(first, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return 0, nil, errors.New("the file is compressed: unpack it first, for example with zcat FILE | dlmtest check - --model …")
	case bytes.IndexByte(first, 0) >= 0:
		return 0, nil, errors.New("the file is no text")
	}
	p := &edn{source: sourceOf(first, 1, 1)}
	c, ok, err := p.blank()
	if err != nil || !ok {
		return 0, nil, fmt.Errorf("nothing but blanks and comments in the first %d bytes", len(first))
	}
	return c, first[p.pos:], nil
}

// detectJSON tells formats by the names of the first object's fields.
func detectJSON(first []byte) (string, error) {
	p := &jsonText{source: sourceOf(first, 1, 1)}
	found := ""
	p.left = -1
	err := p.object(func(name form) error {
		switch name.text {
		case "dlmtest_history":
			found = "dlmtest"
		case "call", "ret", "out":
			found = "operations"
		case "type":
			found = "elle"
		}
		if found != "" {
			return errStop
		}
		_, err := p.form()
		return err
	})
	if found == "" {
		if err == nil {
			err = errors.New("no field of it is known")
		}
		return "", fmt.Errorf("JSON of no format that is known: %w", err)
	}
	return found, nil
}

// detectEDN tells Porcupine's lines from Jepsen's by the key of the first map.
func detectEDN(first []byte) string {
	r := &Reader{Skipped: map[string]int{}, processes: map[int]*pending{}, in: bytes.NewReader(first)}
	name := "jepsen"
	r.looking = func(s *step) {
		if !s.key.nothing() {
			name = "kv"
		}
	}
	_ = r.readEDN() // what is wrong with the file is said when it is read
	return name
}
