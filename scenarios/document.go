package scenarios

import "reflect"

// Word is a struct that a file may also give as one word; it has an UnmarshalYAML
// that reads both.
type Word interface{ CheckWord(word string) error }

// Document reads one YAML document as strictly as Parse reads a scenario, into a
// pointer to a struct of plain data: unknown and double fields, anchors, wrong kinds
// and a second document are problems with their lines, and near words are named.
// Then check, if it is not nil, looks at the values; the paths of its problems are
// like "cells[0].backend". It returns the line of each path.
func Document(name string, data []byte, into any, check func() Problems) (map[string]int, error) {
	root, err := tree(name, data)
	if err != nil {
		return nil, err
	}
	w := walker{lines: map[string]int{}}
	w.walk("", root, reflect.TypeOf(into).Elem())
	if len(w.problems) > 0 {
		return nil, w.problems.in(name, w.lines)
	}
	if err := root.Load(into); err != nil {
		return nil, syntax(name, err)
	}
	if check == nil {
		return w.lines, nil
	}
	if problems := check(); len(problems) > 0 {
		return nil, problems.in(name, w.lines)
	}
	return w.lines, nil
}
