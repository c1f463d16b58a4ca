package scenarios_test

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"
	"go.yaml.in/yaml/v4"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/docs/schema"
	"github.com/dlmtest/dlmtest/internal/formed"
	"github.com/dlmtest/dlmtest/internal/golden"
	"github.com/dlmtest/dlmtest/scenarios"
)

// duration is a length of time as a file writes it.
var duration = &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
	{Type: "string", Pattern: `^([0-9]+(\.[0-9]+)? leases?|0|(([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$`}, {Const: 0},
}}

var verdict = &jsonschema.Schema{Type: "string", Enum: formed.Enum([]string{
	checker.Holds.String(), checker.Violated.String(), checker.Unknown.String(), checker.NA.String(),
	"may be " + checker.Violated.String(), "may be " + checker.Unknown.String()})}

// named is a name of scenarios, backends and nodes.
const named = `^[a-z][a-z0-9]*([-/][a-z0-9]+)*$`

var source = formed.Source{
	Name: "scenario", Title: "A scenario of dlmtest", Type: reflect.TypeFor[scenarios.Scenario](),
	Package: "scenarios", Folders: []string{".", "../history"},
	Single: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[scenarios.Duration](): duration,
		reflect.TypeFor[checker.Verdict]():    verdict,
	},
	Short: map[string]*jsonschema.Schema{"Span": duration, "After": {Type: "string"}, "Expectation": verdict},
	Words: scenarios.Vocabulary,
	Refine: func(defs jsonschema.Definitions) {
		expected, _ := defs["Scenario"].Properties.Get("expected")
		expected.AdditionalProperties.PropertyNames = &jsonschema.Schema{Enum: formed.Enum(scenarios.Properties)}
		name, _ := defs["Scenario"].Properties.Get("name")
		name.Pattern = named
		target, _ := defs["Fault"].Properties.Get("target")
		target.AnyOf = []*jsonschema.Schema{{Enum: words(scenarios.Targets)}, {Pattern: named}}
	},
}

func words(all map[string]string) []any {
	var names []string
	for name := range all {
		names = append(names, name)
	}
	return formed.Enum(names)
}

// The schema that is published is the one of the loader's types and words.
func TestSchemaIsOfTheLoader(t *testing.T) {
	golden.Compare(t, "../docs/schema/scenario.json", source.Schema(t))
}

// Every scenario that ships names its schema for editors, and keeps it.
func TestSchemaAcceptsWhatShips(t *testing.T) {
	check := formed.Check(t, schema.Of("scenario"), nil)
	for _, name := range scenarios.Names() {
		data, err := os.ReadFile(name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(data), schema.Line("scenario")) {
			t.Errorf("%s.yaml does not begin with %s", name, schema.Line("scenario"))
		}
		if err := check(data); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		s, err := scenarios.Parse(name, data)
		if err != nil {
			t.Fatal(err)
		}
		if err := check(s.YAML()); err != nil {
			t.Errorf("%s, written with all that was left to its default: %v", name, err)
		}
	}
}

// beyond are the messages of what a schema cannot say: what depends on two fields, on what is near to a word, or on
// YAML itself, which no schema sees.
var beyond = regexp.MustCompile(`stands twice|anchors and aliases|too few for own-key|one client alone|needs a trigger|is longer than max|` +
	`min and max differ|must be longer than 0s|not a fixed time|did you mean "holder"|neither the name of a backend|no name of a backend|unknown target ""|must say what|a client start again`)

// What the loader refuses for its form, the schema refuses.
func TestSchemaRefusesWhatTheLoaderRefuses(t *testing.T) {
	check, refused := formed.Check(t, schema.Of("scenario"), nil), 0
	if err := check([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for _, c := range bad {
		if err := check([]byte(c.file)); err != nil {
			refused++
		} else if !beyond.MatchString(c.want) {
			t.Errorf("the schema accepts what the loader refuses: %s", c.want)
		}
	}
	if refused < len(bad)/2 {
		t.Errorf("the schema refuses %d of %d bad files", refused, len(bad))
	}
}

// A field that the schema calls required is refused by the loader where it is missing, and no other one is.
func TestSchemaRequiresWhatTheLoaderRequires(t *testing.T) {
	check := formed.Check(t, schema.Of("scenario"), nil)
	t.Run("top", func(t *testing.T) {
		without(t, check, func(file map[string]any) map[string]any { return file })
	})
	t.Run("fault", func(t *testing.T) {
		without(t, check, func(file map[string]any) map[string]any { return file["faults"].([]any)[0].(map[string]any) })
	})
}

// without leaves out each field of a part of the good file in turn.
func without(t *testing.T, check func([]byte) error, part func(file map[string]any) map[string]any) {
	read := func() (file map[string]any) {
		if err := yaml.Load([]byte(good), &file); err != nil {
			t.Fatal(err)
		}
		return file
	}
	for field := range part(read()) {
		if slices.Contains([]string{"keys", "on", "expect", "expected", "faults"}, field) {
			continue // the good file's other fields rest on them
		}
		file := read()
		delete(part(file), field)
		text, err := yaml.Dump(file)
		if err != nil {
			t.Fatal(err)
		}
		_, errLoad := scenarios.Parse("good.yaml", text)
		if errSchema := check(text); (errLoad == nil) != (errSchema == nil) {
			t.Errorf("without %s the loader says %v, and the schema %v", field, errLoad, errSchema)
		}
	}
}
