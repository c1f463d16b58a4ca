package bounded

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// maxValues is how many values and names a JSON file of ours may have: an index of 20,000 runs has as many. A value
// of two bytes takes some hundred in memory, so the bytes of a file alone do not bound what it unfolds to.
const maxValues = 4 << 20

// maxText is the most bytes of one text in a JSON file of ours. The longest is a scenario, which is YAML, escaped. What is
// longer is kept, quoted and printed again and again: a name of 200 MB took 1.6 GB, and its error a terminal.
const maxText = 6 * YAML

// Values refuses a JSON text of more than maxValues values and names, or with one of more than maxText bytes. JSON has
// done so.
func Values(name string, data []byte) error {
	n, longest := countValues(data)
	if n > maxValues {
		return fmt.Errorf("%s: %w: a file of this kind has at most %d values; nothing of it was used", name, ErrTooLarge, maxValues)
	}
	if longest > maxText {
		return fmt.Errorf("%s: %w: a text in a file of this kind has at most %d bytes; nothing of it was used", name, ErrTooLarge, maxText)
	}
	return nil
}

// maxList is how many texts a list has that is told from its first to its last, such as the doubts of a run or the words of
// a command: three million of one letter made a report of 45 MB.
const maxList = 1 << 16

// List refuses a field of a file whose list is longer than anybody reads.
func List(name, field string, n int) error {
	if n > maxList {
		return fmt.Errorf("%s: %s: %w: a list of texts in a file of this kind has at most %d; nothing of it was used", name, field, ErrTooLarge, maxList)
	}
	return nil
}

// countValues counts what ends or begins a value outside of strings, and the bytes of the longest string. Of a text that is
// no JSON its reader says more.
func countValues(data []byte) (n, longest int) {
	quoted, escaped, begun := false, false, 0
	for i, c := range data {
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted, begun = !quoted, i
		case !quoted && (c == ',' || c == ':' || c == '[' || c == '{'):
			n++
		}
		if quoted {
			longest = max(longest, i-begun)
		}
	}
	return n, longest
}

// JSON reads one value of a file of ours as strictly as a history is read: what is unknown in it, or
// there twice, could change what is made of it, so it is refused. Durations are nanoseconds. Errors
// name the line.
func JSON(name string, data []byte, into any) error {
	if err := Values(name, data); err != nil {
		return err
	}
	err := json.Unmarshal(data, into, json.RejectUnknownMembers(true), jsonv1.FormatDurationAsNano(true))
	var wrong *json.SemanticError
	var torn *jsontext.SyntacticError
	at := int64(len(data))
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrong):
		at = wrong.ByteOffset
		if errors.Is(err, json.ErrUnknownName) {
			err = fmt.Errorf("unknown field %q at %s: another dlmtest may have written it, or somebody by hand",
				wrong.JSONPointer.LastToken(), wrong.JSONPointer)
		}
	case errors.As(err, &torn):
		at = torn.ByteOffset
		if errors.Is(err, jsontext.ErrDuplicateName) {
			err = fmt.Errorf("field %q comes twice, at %s", torn.JSONPointer.LastToken(), torn.JSONPointer)
		}
	}
	return fmt.Errorf("%s: line %d: %w", name, 1+bytes.Count(data[:min(at, int64(len(data)))], []byte("\n")), err)
}

// Format is the version that a file of ours says it has, in a field of a name, and 0 where it says
// none: of a newer one nothing else can be judged.
func Format(data []byte, field string) int {
	var named map[string]jsontext.Value
	var format int
	if Values("", data) != nil {
		return 0
	}
	_ = json.Unmarshal(data, &named) // what is wrong with it JSON says
	_ = json.Unmarshal(named[field], &format)
	return format
}
