package choosing

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/internal/bounded"
)

// hostile is Markdown that would be a heading, a row, a picture, a mention and an end of code.
const hostile = "x`\n# owned\n| a | b |\n```\n<img src=//evil> ![i](http://evil) @all |"

// poisoned adds it to every text of a value but those that are looked up.
func poisoned(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			poisoned(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			poisoned(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; name != "Scenario" && name != "FenceOn" {
				poisoned(v.Field(i))
			}
		}
	case reflect.String:
		v.SetString(v.String() + hostile)
	}
}

// outsideCode is a line without what is shown as it is.
func outsideCode(line string) string {
	line = strings.ReplaceAll(line, "\\`", "")
	var plain []string
	for i, part := range strings.Split(line, "````") { // hostile has three in a row
		if i%2 == 0 {
			plain = append(plain, part)
		}
	}
	return strings.Join(plain, "")
}

// What a record, or the folders that it was made of, say is shown as it is, and is no Markdown.
func TestMarkdownOfAForeignRecord(t *testing.T) {
	e := recorded(t)
	var b bytes.Buffer
	plain := e
	if err := errors.Join(Markdown(&b, plain), Short(&b, plain)); err != nil {
		t.Fatal(err)
	}
	lines := strings.Count(b.String(), "\n")
	text, err := json.Marshal(e) // a copy of all
	if err == nil {
		err = json.Unmarshal(text, &e)
	}
	if err != nil {
		t.Fatal(err)
	}
	poisoned(reflect.ValueOf(&e).Elem())
	b.Reset()
	if err := errors.Join(Markdown(&b, e), Short(&b, e)); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "\n"); n > lines+2*strings.Count(b.String(), "None was run") {
		t.Errorf("%d lines have become %d", lines, n)
	}
	fence := ""
	for line := range strings.Lines(b.String()) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "```") && strings.Trim(line, "`") == "" {
			if fence == "" {
				fence = line
			} else if len(line) >= len(fence) {
				fence = ""
			}
			continue
		}
		if fence != "" {
			continue
		}
		for _, bad := range []string{"<img", "![i]", " @all", " # owned"} {
			if strings.Contains(outsideCode(line), bad) {
				t.Errorf("%q in %q", bad, line)
			}
		}
		if strings.HasPrefix(line, "|") && strings.Contains(strings.ReplaceAll(line, `\|`, ""), "| a | b |") {
			t.Errorf("cells in %q", line)
		}
	}
	if fence != "" {
		t.Errorf("%s has no end", fence)
	}
}

// Nobody has as many locks: a million took more than 40 s.
func TestRecordHasAnEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "choosing.json")
	for _, what := range []string{`{"locks":[%s]}`, `{"locks":[{"shown":[%s]}]}`, `{"capacity":[{"rows":[%s]}]}`} {
		text := fmt.Sprintf(what, "{}"+strings.Repeat(",{}", 20_000))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(path); !errors.Is(err, bounded.ErrTooLarge) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
