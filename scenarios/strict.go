package scenarios

import (
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/internal/near"
)

// walker compares a YAML tree with the Go types it is to fill, before it does.
// The library's own strictness names Go types and knows no near words. On its
// way the walker notes the line of each field, for Validate's problems.
type walker struct {
	lines    map[string]int // path → line
	problems Problems
}

func (w *walker) problem(path string, line int, format string, args ...any) {
	w.problems = append(w.problems, Problem{Path: path, Line: line, Text: fmt.Sprintf(format, args...)})
}

var (
	durationType    = reflect.TypeFor[Duration]()
	spanType        = reflect.TypeFor[Span]()
	afterType       = reflect.TypeFor[After]()
	expectationType = reflect.TypeFor[Expectation]()
	verdictType     = reflect.TypeFor[checker.Verdict]()
	wordType        = reflect.TypeFor[Word]()
)

// walk looks at one node that is to fill a value of type t.
func (w *walker) walk(path string, node *yaml.Node, t reflect.Type) {
	w.lines[path] = node.Line
	switch {
	case node.Kind == yaml.AliasNode || node.Anchor != "":
		w.problem(path, node.Line, "anchors and aliases are not supported: a scenario is plain data")
	case node.Kind == yaml.ScalarNode && t == spanType:
		w.leaf(path, node, durationType)
	case node.Kind == yaml.ScalarNode && t == afterType:
		w.leaf(path, node, reflect.TypeFor[string]())
	case node.Kind == yaml.ScalarNode && t == expectationType:
		w.leaf(path, node, verdictType)
	case node.Kind == yaml.ScalarNode && reflect.PointerTo(t).Implements(wordType):
		if err := reflect.New(t).Interface().(Word).CheckWord(node.Value); err != nil {
			w.problem(path, node.Line, "%s%s", prefix(path), err)
		}
	case t == durationType:
		w.leaf(path, node, t)
	case t.Kind() == reflect.Struct:
		w.fields(path, node, t)
	case t.Kind() == reflect.Map:
		w.entries(path, node, t.Elem())
	case t.Kind() == reflect.Slice:
		w.items(path, node, t.Elem())
	default:
		w.leaf(path, node, t)
	}
}

func (w *walker) fields(path string, node *yaml.Node, t reflect.Type) {
	fields := map[string]reflect.Type{}
	var names []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
		if name != "" && name != "-" { // what the program alone knows has no name in a file
			fields[name] = t.Field(i).Type
			names = append(names, name)
		}
	}
	w.pairs(path, node, func(key, value *yaml.Node) {
		if field, ok := fields[key.Value]; ok {
			w.walk(join(path, key.Value), value, field)
			return
		}
		w.problem(path, key.Line, "unknown field %q%s", key.Value, near.Hint(key.Value, names))
	})
}

func (w *walker) entries(path string, node *yaml.Node, elem reflect.Type) {
	w.pairs(path, node, func(key, value *yaml.Node) { w.walk(join(path, key.Value), value, elem) })
}

// pairs visits the keys of a map, each of which must be a plain word that
// stands there once.
func (w *walker) pairs(path string, node *yaml.Node, visit func(key, value *yaml.Node)) {
	if node.Kind != yaml.MappingNode {
		is := kindOf(node)
		if path == "" && node.Kind == yaml.ScalarNode {
			is = "a text" // which is not shown: somebody's gate file may name any file
		}
		w.problem(path, node.Line, "%swant a map of fields, not %s", prefix(path), is)
		return
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i]
		if key.Kind != yaml.ScalarNode || key.Anchor != "" || key.Value == "<<" {
			w.problem(path, key.Line, "%sa field's name must be a plain word", prefix(path))
			continue
		}
		if line, ok := seen[key.Value]; ok {
			w.problem(path, key.Line, "field %q stands twice, first on line %d", key.Value, line)
			continue
		}
		seen[key.Value] = key.Line
		visit(key, node.Content[i+1])
	}
}

func (w *walker) items(path string, node *yaml.Node, elem reflect.Type) {
	if node.Kind != yaml.SequenceNode {
		w.problem(path, node.Line, "%swant a list, each item after a dash, not %s", prefix(path), kindOf(node))
		return
	}
	for i, item := range node.Content {
		w.walk(fmt.Sprintf("%s[%d]", path, i), item, elem)
	}
}

// leaf checks a single value.
func (w *walker) leaf(path string, node *yaml.Node, t reflect.Type) {
	var err error
	switch {
	case node.Kind != yaml.ScalarNode:
		err = fmt.Errorf("want a single value, not %s", kindOf(node))
	case t == durationType:
		_, err = ParseDuration(node.Value)
	case t == verdictType:
		err = checkVerdict(node.Value)
	case node.ShortTag() == "!!null":
		err = fmt.Errorf("has no value")
	case node.Load(reflect.New(t).Interface()) != nil:
		err = fmt.Errorf("%q is not %s", node.Value, kinds[t.Kind()])
	}
	if err != nil {
		w.problem(path, node.Line, "%s%s", prefix(path), err)
	}
}

var kinds = map[reflect.Kind]string{
	reflect.Int: "a whole number", reflect.Bool: "true or false", reflect.String: "a text",
}

func kindOf(node *yaml.Node) string {
	switch node.Kind {
	case yaml.MappingNode:
		return "a map"
	case yaml.SequenceNode:
		return "a list"
	default:
		return fmt.Sprintf("%q", node.Value)
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func prefix(path string) string {
	if path == "" {
		return ""
	}
	return path + ": "
}
