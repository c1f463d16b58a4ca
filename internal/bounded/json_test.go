package bounded

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestJSONIsStrict(t *testing.T) {
	type file struct {
		Name  string         `json:"name"`
		Took  time.Duration  `json:"took,omitempty"`
		Parts map[string]int `json:"parts,omitempty"`
	}
	for _, c := range []struct{ text, want string }{
		{"{\n \"name\": \"a\",\n \"took\": 5,\n \"parts\": {\"x\": 1}\n}\n", ""},
		{"{\n \"name\": \"a\",\n \"nmae\": \"b\"\n}", `f.json: line 3: unknown field "nmae" at /nmae`},
		{"{\n \"Name\": \"a\"}", `f.json: line 2: unknown field "Name"`},
		{"{\n \"name\": \"a\",\n\n \"name\": \"b\"\n}", `f.json: line 4: field "name" comes twice`},
		{"{\n \"parts\": {\"x\": 1,\n \"x\": 2}}", `f.json: line 3: field "x" comes twice, at /parts/x`},
		{"{\n \"took\":\n \"5s\"}", "f.json: line 3: "},
		{"{\n \"name\": \"a\"\n} {}", "f.json: line 3: "},
		{"{\n \"name\": \"a", "f.json: line 2: "},
		{"", "f.json: line 1: "},
	} {
		var f file
		err := JSON("f.json", []byte(c.text), &f)
		switch {
		case c.want == "" && (err != nil || f.Name != "a" || f.Took != 5 || f.Parts["x"] != 1):
			t.Errorf("%q: %+v, %v", c.text, f, err)
		case c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)):
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
}

// What unfolds to far more than it holds is refused before it does; punctuation within strings counts for nothing.
func TestJSONHasAnEnd(t *testing.T) {
	var file struct {
		List []struct{ A, B, C, D, E, F, G, H string }
	}
	if err := JSON("f.json", []byte(`{"List": [{}`+strings.Repeat(",{}", maxValues/2)+`]}`), &file); !errors.Is(err, ErrTooLarge) || len(file.List) > 0 {
		t.Errorf("%d values: %v", len(file.List), err)
	}
	for text, want := range map[string]int{`{"a,b:[{\"\\": [1, 2, {}]}`: 6, `"\",,"`: 0, `[[[`: 3, "": 0} {
		if n, _ := countValues([]byte(text)); n != want {
			t.Errorf("%s: %d, want %d", text, n, want)
		}
	}
	long := strings.Repeat(`\"`, maxText/2)
	var name struct{ Name string }
	if err := JSON("f.json", []byte(`{"Name":"`+long+`"}`), &name); err != nil {
		t.Errorf("the longest text: %v", err)
	}
	if err := JSON("f.json", []byte(`{"Name":"`+long+`a"}`), &name); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a longer text: %v", err)
	}
}
