// Package formed makes the JSON Schema of a file from the Go type that reads it, for tests that write the schemas
// of docs/schema and hold them against the readers. No program carries it.
//
// Of the libraries that make schemas of types, invopop/jsonschema reads the names of the yaml tags and the words of
// the doc comments; google/jsonschema-go knows only those of json tags, which differ from ours.
package formed

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"github.com/dlmtest/dlmtest/docs/schema"
)

// module is the path of this module, whose packages the types are of.
const module = "github.com/dlmtest/dlmtest/"

// Source says how a type becomes a schema.
type Source struct {
	Name  string // of the schema
	Title string
	Type  reflect.Type
	// Package is the path of the test's package in the module, and Folders lead from there to the packages of the types.
	Package string
	Folders []string
	// Single are the types that a file writes as one value.
	Single map[reflect.Type]*jsonschema.Schema
	// Short are the short forms that a file may write in place of the map of a type.
	Short map[string]*jsonschema.Schema
	// Words are the lists that the tag words of a field names; of other fields the tag is a list itself.
	Words map[string][]string
	// Refine sets what no tag says.
	Refine func(defs jsonschema.Definitions)
}

// Schema is the schema as a file.
func (s Source) Schema(t testing.TB) []byte {
	t.Helper()
	seen := map[reflect.Type]bool{}
	r := &jsonschema.Reflector{FieldNameTag: "yaml", RequiredFromJSONSchemaTags: true, Anonymous: true,
		LookupComment: help, Mapper: func(of reflect.Type) *jsonschema.Schema {
			seen[of] = true
			single, ok := s.Single[of]
			if !ok {
				return nil
			}
			own := *single // the field's own comment is written into it
			own.Description = ""
			return &own
		}}
	for _, folder := range s.Folders {
		if err := r.AddGoComments(module+s.Package, folder, jsonschema.WithFullComment()); err != nil {
			t.Fatal(err)
		}
	}
	made := r.ReflectFromType(s.Type)
	made.ID, made.Title = jsonschema.ID(schema.Base+s.Name+".json"), s.Title
	for of := range seen {
		if def := made.Definitions[of.Name()]; def != nil && of.Kind() == reflect.Struct {
			s.words(def, of)
		}
	}
	if s.Refine != nil {
		s.Refine(made.Definitions)
	}
	for name, short := range s.Short {
		long := *made.Definitions[name]
		*made.Definitions[name] = jsonschema.Schema{AnyOf: []*jsonschema.Schema{short, &long}}
	}
	return Text(t, made)
}

// help is what a struct itself says of a field; of others their comments tell.
func help(of reflect.Type, field string) string {
	if field == "" {
		return ""
	}
	if says, ok := reflect.Zero(of).Interface().(interface{ Help(field string) string }); ok {
		return says.Help(field)
	}
	return ""
}

// words gives the fields of a struct the words that they can be.
func (s Source) words(def *jsonschema.Schema, of reflect.Type) {
	for i := range of.NumField() {
		f := of.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		property, ok := def.Properties.Get(name)
		tag := f.Tag.Get("words")
		if !ok || tag == "" {
			continue
		}
		words := s.Words[tag]
		if words == nil {
			words = strings.Split(tag, ",")
		}
		if !strings.Contains(f.Tag.Get("jsonschema"), "required") && !strings.HasSuffix(f.Tag.Get("yaml"), ",omitempty") {
			words = append(slices.Clone(words), "") // it is written where it is empty
		}
		property.Enum = Enum(words)
	}
}

// Enum are words as a schema lists them.
func Enum(words []string) (all []any) {
	for _, w := range slices.Sorted(slices.Values(words)) {
		all = append(all, w)
	}
	return all
}

// Text is a schema as a file.
func Text(t testing.TB, v any) []byte {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Check compiles the schema of a name, with others that it refers to, and says what it finds wrong with a YAML file.
func Check(t testing.TB, text []byte, others map[string]string) func(file []byte) error {
	t.Helper()
	c := validator.NewCompiler()
	c.DefaultDraft(validator.Draft2020)
	others = maps.Clone(others)
	if others == nil {
		others = map[string]string{}
	}
	others["schema.json"] = string(text)
	for name, text := range others {
		doc, err := validator.UnmarshalJSON(strings.NewReader(text))
		if err == nil {
			err = c.AddResource(name, doc)
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	compiled, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return func(file []byte) error {
		var value any
		if err := yaml.Load(file, &value); err != nil {
			return err
		}
		return compiled.Validate(value)
	}
}
