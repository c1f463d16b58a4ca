package protocol

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of what is read.
const (
	LineMax = 64 << 10 // bytes of a line, with its end
	textMax = 4 << 10  // bytes of a message, a reason, a name
	shown   = 120      // bytes of a bad line in a Fault
)

// Reader reads what an adapter prints.
type Reader struct {
	lines *bufio.Reader
	size  int // of the last line, in bytes
}

// NewReader reads from r.
func NewReader(r io.Reader) *Reader { return &Reader{lines: bufio.NewReaderSize(r, LineMax)} }

// Next returns the next message: exactly one of the two is set. The error is a *Fault,
// or io.EOF at the end.
func (r *Reader) Next() (*Answer, *Event, error) {
	line, err := r.lines.ReadSlice('\n')
	r.size = len(line)
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, nil, fault(LongLine, "it printed a line of more than %d bytes, which begins with %s", LineMax, sample(line))
	case err != nil && len(line) > 0 && errors.Is(err, io.EOF):
		return nil, nil, fault(Garbage, "its last line has no end: %s", sample(line))
	case err != nil:
		return nil, nil, io.EOF // a closed pipe is an end
	}
	return Parse(line)
}

// Parse reads one line.
func Parse(line []byte) (*Answer, *Event, error) {
	if !utf8.Valid(line) {
		return nil, nil, fault(Garbage, "it printed what is not UTF-8: %s", sample(line))
	}
	names, err := shape(line)
	if err != nil {
		return nil, nil, fault(Garbage, "it printed %s: %v", sample(line), err)
	}
	if names["event"] {
		var e Event
		if err := strict(line, &e); err != nil {
			return nil, nil, fault(Garbage, "it printed an event %s: %v", sample(line), err)
		}
		return nil, &e, e.check(line)
	}
	var a Answer
	if err := strict(line, &a); err != nil {
		return nil, nil, fault(Garbage, "it printed %s: %v", sample(line), err)
	}
	return &a, nil, a.check(line)
}

// sample is the begin of a line, fit to be printed.
func sample(line []byte) string {
	line = bytes.TrimRight(line, "\r\n")
	if len(line) > shown {
		return fmt.Sprintf("%q…", line[:shown])
	}
	return fmt.Sprintf("%q", line)
}

func strict(line []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

// shape demands one object, and returns its names. No name may stand twice in it: a
// reader that takes the last and one that takes the first would not agree on what was said.
func shape(line []byte) (map[string]bool, error) {
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	t, err := d.Token()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("want a JSON object, got an empty line")
	}
	if err != nil {
		return nil, fmt.Errorf("want a JSON object: %w", err)
	}
	if t != json.Delim('{') {
		return nil, fmt.Errorf("want a JSON object")
	}
	names, err := object(d, 0)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("want nothing after the object")
	}
	return names, nil
}

// depthMax is the deepest nesting; a message has three.
const depthMax = 8

// object reads the rest of an object, of which the brace was read.
func object(d *json.Decoder, depth int) (map[string]bool, error) {
	if depth > depthMax {
		return nil, errors.New("nested too deep")
	}
	seen := map[string]bool{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		if text := name.(string); text != strings.ToLower(text) { // encoding/json would take it for the other
			return nil, fmt.Errorf("the name %q is not in lower case", text)
		}
		if seen[name.(string)] {
			return nil, fmt.Errorf("the name %q stands twice", name)
		}
		seen[name.(string)] = true
		if err := value(d, depth); err != nil {
			return nil, err
		}
	}
	_, err := d.Token()
	return seen, err
}

func value(d *json.Decoder, depth int) error {
	t, err := d.Token()
	if err != nil {
		return err
	}
	switch t {
	case json.Delim('{'):
		_, err = object(d, depth+1)
		return err
	case json.Delim('['):
		if depth > depthMax {
			return errors.New("nested too deep")
		}
		for d.More() {
			if err := value(d, depth+1); err != nil {
				return err
			}
		}
		_, err = d.Token()
	}
	return err
}

func (e *Event) check(line []byte) error {
	if !slices.Contains([]string{"suspended", "resumed", "lost"}, e.Event) {
		return fault(Garbage, "it printed an event %q; want suspended, resumed or lost", clip(e.Event))
	}
	if e.At < 0 || len(e.Why) > textMax || len(e.Grant) > textMax {
		return fault(Garbage, "it printed an event with a value out of bounds: %s", sample(line))
	}
	return nil
}

func (a *Answer) check(line []byte) error {
	switch {
	case a.ID < 1:
		return fault(Garbage, "it printed an answer without an id: %s", sample(line))
	case (a.OK == nil) == (a.Error == nil):
		return fault(Garbage, "want exactly one of ok and error in %s", sample(line))
	case a.Error != nil && !slices.Contains([]Code{NotGranted, Held, NotHeld, Config, Unsupported, Unknown}, a.Error.Code):
		return fault(Garbage, "error code %q; want not-granted, held, not-held, config, unsupported or unknown", clip(string(a.Error.Code)))
	case a.Error != nil && len(a.Error.Message) > textMax:
		return fault(Garbage, "an error's message has %d bytes, more than %d", len(a.Error.Message), textMax)
	case a.OK != nil && (a.OK.Token < 0 || a.OK.Deadline < 0 || a.OK.Sent < 0 || len(a.OK.Grant) > textMax ||
		len(a.OK.Name) > textMax || len(a.OK.Library) > textMax):
		return fault(Garbage, "it printed a value out of bounds: %s", sample(line))
	}
	return nil
}

func clip(s string) string {
	if len(s) > shown {
		return s[:shown] + "…"
	}
	return s
}
