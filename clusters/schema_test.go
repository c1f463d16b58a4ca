package clusters

import (
	"os"
	"slices"
	"strings"
	"testing"

	compose "github.com/compose-spec/compose-go/v2/schema"

	"github.com/dlmtest/dlmtest/docs/schema"
	"github.com/dlmtest/dlmtest/internal/formed"
	"github.com/dlmtest/dlmtest/internal/golden"
)

// specification is where compose's own schema is published.
const specification = "https://raw.githubusercontent.com/compose-spec/compose-go/main/schema/compose-spec.json"

// composeSchema is compose's own schema, less what the table of fields refuses, with the labels that are read.
func composeSchema() map[string]any {
	top := map[string]any{}
	for path, f := range fields {
		at := top
		for i, name := range strings.Split(path, ".") {
			if at = below(at, name); i == 2 && slices.Contains(listed, name) && path != "services.*."+name {
				at = child(at, "items")
			}
		}
		if f.say != "" {
			at["description"] = string(f.treatment) + ": " + f.say
		}
		if f.treatment == refused {
			at["const"] = false // what is off is not asked for
		}
	}
	labels := below(below(below(top, "services"), "*"), "labels")
	labels["propertyNames"] = map[string]any{"anyOf": []any{
		map[string]any{"enum": labelNames}, map[string]any{"not": map[string]any{"pattern": `^dlmtest\.`}},
	}}
	top["$schema"], top["$id"] = "https://json-schema.org/draft/2020-12/schema", schema.Base+"compose.json"
	top["title"], top["allOf"] = "A compose file for dlmtest run --compose", []any{map[string]any{"$ref": specification}}
	return top
}

// listed are the fields of a service that list mappings.
var listed = []string{"devices", "env_file", "ports", "volumes"}

// below is the schema of a field below another.
func below(at map[string]any, name string) map[string]any {
	if name == "*" {
		return child(at, "additionalProperties")
	}
	return child(child(at, "properties"), name)
}

func child(at map[string]any, key string) map[string]any {
	if at[key] == nil {
		at[key] = map[string]any{}
	}
	return at[key].(map[string]any)
}

// The schema that is published is the one of the table that decides what is refused.
func TestComposeSchemaIsOfTheLoader(t *testing.T) {
	golden.Compare(t, "../docs/schema/compose.json", formed.Text(t, composeSchema()))
}

// The schema refuses the fields that the loader refuses, and accepts those that it keeps, dlmtest's own file too.
func TestComposeSchemaRefusesWhatTheLoaderRefuses(t *testing.T) {
	check := formed.Check(t, schema.Of("compose"), map[string]string{specification: compose.Schema})
	for name, c := range kept {
		text := "services:\n  a:\n    image: x\n    " + c.yaml + "\nvolumes: {data: }\n"
		err := check([]byte(text))
		// A field that is refused whatever it holds; of others a schema does not see the value, nor what a short form means.
		byName := strings.Contains(c.want, "dlmtest does not support it") && !strings.HasPrefix(c.want, "ports.published") || strings.HasPrefix(c.want, "no label")
		if c.want == "" && err != nil || byName && err == nil {
			t.Errorf("%s: the schema says %v, and the loader %q", name, err, c.want)
		}
	}
	own, err := os.ReadFile("../docker-compose.yml")
	if err != nil {
		t.Fatal(err)
	}
	if err := check(own); err != nil || !strings.HasPrefix(string(own), schema.Line("compose")) {
		t.Errorf("dlmtest's own file: %v", err)
	}
}
