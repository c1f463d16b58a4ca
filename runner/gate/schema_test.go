package gate

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/docs/schema"
	"github.com/dlmtest/dlmtest/internal/formed"
	"github.com/dlmtest/dlmtest/internal/golden"
	"github.com/dlmtest/dlmtest/internal/settings"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/scenarios"
)

// source is the schema of what Parse reads.
var source = formed.Source{
	Name: "gate", Title: "A gate of dlmtest", Type: reflect.TypeFor[Config](), Package: "runner/gate", Folders: []string{"."},
	Single: map[reflect.Type]*jsonschema.Schema{reflect.TypeFor[map[string]string](): flagsSchema()},
	Short:  map[string]*jsonschema.Schema{"Expectation": {Enum: formed.Enum(Wants)}},
	Words:  map[string][]string{"backend": locks.Names(), "expectation": Wants},
	Refine: func(defs jsonschema.Definitions) {
		expect, _ := defs["Cell"].Properties.Get("expect")
		expect.PropertyNames = &jsonschema.Schema{Enum: formed.Enum(checker.Names())}
		scenario, _ := defs["Cell"].Properties.Get("scenario")
		scenario.AnyOf = []*jsonschema.Schema{{Enum: formed.Enum(scenarios.Names())}, {Pattern: `/|\.ya?ml$`}}
	},
}

// flagsSchema is that of flags: the settings of runs in their words. Others are known to the command alone.
func flagsSchema() *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(),
		AdditionalProperties: &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "string"}, {Type: "number"}, {Type: "boolean"}}}}
	for _, f := range settings.Fields() {
		value := &jsonschema.Schema{Description: f.Help, Enum: formed.Enum(f.Words)}
		if f.Words == nil {
			value.AnyOf = s.AdditionalProperties.AnyOf
		}
		s.Properties.Set(f.Flag, value)
	}
	return s
}

// The schema that is published is the one of Config and of the words that Parse knows.
func TestSchemaIsOfTheLoader(t *testing.T) {
	golden.Compare(t, "../../docs/schema/gate.json", source.Schema(t))
}

// The gates that ship, and those that gate init writes, name their schema and keep it.
func TestSchemaAcceptsWhatShips(t *testing.T) {
	check := formed.Check(t, schema.Of("gate"), nil)
	shipped, err := os.ReadFile("../../examples/ci/gate.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c, err := Parse("gate.yaml", []byte(good))
	if err != nil {
		t.Fatal(err)
	}
	written, err := c.YAML()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range [][]byte{shipped, written} {
		if err := check(text); err != nil || !strings.HasPrefix(string(text), schema.Line("gate")) {
			t.Errorf("%v\n%s", err, text)
		}
	}
	if err := check([]byte(good)); err != nil {
		t.Error(err)
	}
	if text := documented(t); check(text) != nil {
		t.Errorf("docs/gate.md shows a gate that its schema refuses: %v", check(text))
	} else if _, err := Parse("gate.yaml", text); err != nil {
		t.Errorf("docs/gate.md: %v", err)
	}
}

// documented is the first file of docs/gate.md.
func documented(t *testing.T) []byte {
	t.Helper()
	page, err := os.ReadFile("../../docs/gate.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml\n")
	text, _, _ := strings.Cut(rest, "```")
	return []byte(text)
}

// beyond are the messages of what a schema cannot say: what depends on two fields or on another file, and YAML itself.
var beyond = regexp.MustCompile(`unknown library|needs a reason|want an address|from 1 to the count|for must-detect alone|nothing here is must-detect|stands twice|anchors`)

func TestSchemaRefusesWhatTheLoaderRefuses(t *testing.T) {
	check := formed.Check(t, schema.Of("gate"), nil)
	for _, m := range mistakes {
		if err := check([]byte(strings.Replace(good, m.old, m.new, 1))); err == nil && !beyond.MatchString(m.want) {
			t.Errorf("the schema accepts %q in place of %q; the loader says %s", m.new, m.old, m.want)
		}
	}
}
