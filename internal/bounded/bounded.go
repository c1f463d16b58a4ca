// Package bounded reads files that others wrote: no larger than a person would make
// them, with no YAML that unfolds to more than it holds, and in folders regular files
// alone, through no link that an index leads to.
package bounded

import (
	"bytes"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v4"
)

// YAML is the most bytes of a file that people write: a scenario, a gate, a compose
// file. The largest that comes with dlmtest has 12 kB.
const YAML = 1 << 20

// MaxNodes is how many values a YAML file may have once its aliases are unfolded, and
// maxDepth how deep they may lie in each other.
const (
	MaxNodes = 100_000
	maxDepth = 200
)

// maxTags is how many %TAG lines a YAML file may have: the library compares each with all before it, so that 80,000 of
// them, in a file of 1 MB, took half a minute. Nobody who writes a scenario needs one.
const maxTags = 100

// ErrTooLarge says that there is more than a file of its kind may hold.
var ErrTooLarge = errors.New("too large")

func tooLarge(path string, max int64) error {
	return fmt.Errorf("%s: %w: a file of this kind has at most %d bytes; nothing of it was used", path, ErrTooLarge, max)
}

// ReadYAML is ReadFile for what people write in YAML, and CheckYAML of what was read.
func ReadYAML(path string) ([]byte, error) {
	data, err := ReadFile(path, YAML)
	if err == nil {
		err = CheckYAML(path, data)
	}
	return data, err
}

// CheckYAML refuses a text of more than MaxNodes values, where its aliases are unfolded, or that unfold to themselves,
// and one of more than maxTags tags. A text that is no YAML is left to its reader, who says more of it.
func CheckYAML(name string, text []byte) error {
	if len(text) > YAML {
		return tooLarge(name, YAML)
	}
	if bytes.Count(text, []byte("%TAG")) > maxTags {
		return fmt.Errorf("%s: %w: %%TAG stands in it more than %d times; leave them out", name, ErrTooLarge, maxTags)
	}
	var documents []yaml.Node
	if yaml.Load(text, &documents, yaml.WithAllDocuments()) != nil {
		return nil
	}
	u := unfolding{sizes: map[*yaml.Node]int{}, open: map[*yaml.Node]bool{}}
	for i := range documents {
		if n := u.size(&documents[i], 0); n > MaxNodes {
			return fmt.Errorf("%s: %w: it has more than %d values with what its aliases (*name) unfold to, or they unfold to "+
				"themselves, or it is nested deeper than %d; write less, and no aliases", name, ErrTooLarge, MaxNodes, maxDepth)
		}
	}
	return nil
}

// unfolding counts each anchor once, so that the count is quick where the text is not.
type unfolding struct {
	sizes map[*yaml.Node]int
	open  map[*yaml.Node]bool // is being counted: an alias to it has no end
}

func (u unfolding) size(n *yaml.Node, depth int) int {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if size, known := u.sizes[n]; known {
		return size
	}
	if u.open[n] || depth > maxDepth {
		return MaxNodes + 1
	}
	u.open[n] = true
	defer delete(u.open, n)
	size := 1
	for _, c := range n.Content {
		if size = size + u.size(c, depth+1); size > MaxNodes {
			size = MaxNodes + 1
			break
		}
	}
	u.sizes[n] = size
	return size
}
