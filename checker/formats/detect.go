package formats

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/history"
)

// looked is how many bytes are looked at to find the format.
const looked = 64 << 10

// FormatOf finds the format of a file, which may be packed.
func FormatOf(in io.Reader) (string, error) {
	_, first, err := history.Unpack(in, looked)
	if err != nil {
		return "", err
	}
	return Detect(first)
}

// Detect finds the format of a file from its first bytes.
func Detect(first []byte) (string, error) { return detect(first, nil) }

// detect does so where a user has said what some names stand for.
func detect(first []byte, own map[string]string) (string, error) {
	if bytes.HasPrefix(first, []byte(blocksMagic)) {
		return "jepsen-blocks", nil
	}
	c, rest, err := opening(first)
	if isFptlin(first) {
		return "fptlin", nil
	}
	for line := range bytes.Lines(first) { // history.txt begins with a number, a log with anything
		if _, found := logged(string(line)); found && c != '{' && c != '(' && !(c == '[' && bytes.HasPrefix(bytes.TrimLeft(rest[1:], blanks), []byte("{"))) {
			return "jepsen-log", nil
		}
	}
	switch {
	case err != nil:
		return "", err
	case c == '{' && bytes.HasPrefix(bytes.TrimLeft(rest[1:], blanks), []byte(`"`)):
		return detectJSON(rest, own)
	case c == '[' && isJSONArray(rest):
		if isTimelock(first) {
			return "timelock", nil
		}
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

// isFptlin says that a file begins with the name of one of fptlin's types.
func isFptlin(first []byte) bool {
	line, _, _ := bytes.Cut(first, []byte("\n"))
	name, found := bytes.CutPrefix(line, []byte("#"))
	return found && slices.Contains([]string{"stack", "queue", "priorityqueue", "rmw"}, string(bytes.TrimSpace(name)))
}

// isJSONArray says that an array has JSON's objects in it, and not EDN's maps: a name in
// quotes and a colon, with any blanks between.
func isJSONArray(rest []byte) bool {
	rest = bytes.TrimLeft(rest[1:], blanks)
	if len(rest) == 0 || rest[0] != '{' {
		return false
	}
	return bytes.HasPrefix(bytes.TrimLeft(rest[1:], blanks), []byte(`"`))
}

// isTimelock says that a file begins with operations of AtlasDB's tests: calls whose
// value is the name of a lock, and lock, refresh and unlock alone.
func isTimelock(first []byte) bool {
	calls, others := 0, 0
	r := &Reader{Skipped: map[string]int{}, in: bytes.NewReader(first)}
	r.looking = func(s *step) bool {
		switch {
		case s.nemesis():
		case s.f != "lock" && s.f != "refresh" && s.f != "unlock", s.kind == history.Invoke && s.value.kind != text:
			others++
		case s.kind == history.Invoke:
			calls++
		case s.kind == history.OK && s.value.kind != text && s.value.kind != null:
			others++
		}
		return others == 0
	}
	_ = r.readElle() // what is wrong with the file is said when it is read
	return calls > 0 && others == 0
}

const blanks = " \t\r\n"

// opening is the first byte that is neither blank nor of a comment.
func opening(first []byte) (byte, []byte, error) {
	switch {
	case len(first) == 0:
		return 0, nil, errors.New("the file is empty")
	case bytes.HasPrefix(first, []byte("BZh")), bytes.HasPrefix(first, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return 0, nil, errors.New("the file is compressed: unpack it first, for example with bzcat FILE | dlmtest check - --model …")
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
func detectJSON(first []byte, own map[string]string) (string, error) {
	p := &jsonText{source: sourceOf(first, 1, 1)}
	found := ""
	p.left = -1
	err := p.object(func(name form) error {
		switch strings.TrimPrefix(name.text, ":") {
		case "dlmtest_history":
			found = "dlmtest"
		case "ClientId", "Input":
			found = "etcd"
		case "call", "ret", "out":
			found = "operations"
		case "type":
			found = "elle"
		}
		if own[name.text] == "type" {
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
			err = errors.New("no field of it is known; --field NAME=type, process, f, value and time say which those of its events are")
		}
		return "", fmt.Errorf("JSON of no format that is known: %w", err)
	}
	return found, nil
}

// detectEDN tells Porcupine's lines from Jepsen's by the key of the first map.
func detectEDN(first []byte) string {
	r := &Reader{Skipped: map[string]int{}, processes: map[int]*pending{}, in: bytes.NewReader(first)}
	name := "jepsen"
	r.looking = func(s *step) bool {
		if s.keyed && !s.key.nothing() {
			name = "kv"
		}
		return false
	}
	_ = r.readEDN() // what is wrong with the file is said when it is read
	return name
}
