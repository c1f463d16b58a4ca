package bounded

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// JSON reads one value of a file of ours as strictly as a history is read: what is unknown in it, or
// there twice, could change what is made of it, so it is refused. Durations are nanoseconds. Errors
// name the line.
func JSON(name string, data []byte, into any) error {
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
	_ = json.Unmarshal(data, &named) // what is wrong with it JSON says
	_ = json.Unmarshal(named[field], &format)
	return format
}
