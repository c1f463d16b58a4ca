package clusters

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"
)

// lineOf says ":N" for the deepest key that the error names. compose-go gives
// lines for bad YAML but only a path, services.a.bogus, for bad content.
func lineOf(text []byte, err error) string {
	var root yaml.Node
	if yaml.Unmarshal(text, &root) != nil || len(root.Content) == 0 {
		return "" // bad YAML: the error has its line
	}
	said := strings.NewReplacer("[", ".", "]", "", "'", " ", `"`, " ").Replace(err.Error())
	line, length := 0, 0
	visit(root.Content[0], "", func(path string, at int) {
		if len(path) > length && strings.Contains(said, path) {
			line, length = at, len(path)
		}
	})
	if line == 0 {
		return ""
	}
	return fmt.Sprintf(":%d", line)
}

// visit calls seen with the path and the line of every key below n.
func visit(n *yaml.Node, path string, seen func(string, int)) {
	if n.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		below := strings.TrimPrefix(path+"."+key.Value, ".")
		seen(below, key.Line)
		visit(n.Content[i+1], below, seen)
	}
}
