package clusters

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/compose-spec/compose-go/v2/types"
	"go.yaml.in/yaml/v4"

	"github.com/dlmtest/dlmtest/internal/bounded"
)

// Prefix begins the variables of the caller's environment that any compose file may take.
const Prefix = "DLMTEST_"

// Bearer is the one variable of them that is a secret: a user's own compose file takes it
// only where what reaches the host is allowed.
const Bearer = Prefix + "BEARER"

// mostFiles is how many files a compose file may include.
const mostFiles = 50

// environment is what the file's ${variables} stand for: all of the caller's where what
// reaches the host is allowed, else DLMTEST_* alone (see Bearer), and what dlmtest sets.
func (x *examined) environment(settings []Settings) types.Mapping {
	all := types.NewMapping(os.Environ())
	for name := range all {
		if !x.allow && !x.free(name) {
			delete(all, name)
		}
	}
	for _, s := range settings {
		for name, value := range s {
			all[name], x.set[name] = value, true
		}
	}
	return all
}

// free says whether the file may take a variable of the caller's.
func (x *examined) free(name string) bool {
	return strings.HasPrefix(name, Prefix) && (name != Bearer || x.builtIn)
}

var variables = regexp.MustCompile(`\$\{?([A-Za-z_][A-Za-z0-9_]*)`)

// taken finds the variables that a text takes from the caller's environment.
func (x *examined) taken(at place, text string) {
	for _, m := range variables.FindAllStringSubmatch(strings.ReplaceAll(text, "$$", ""), -1) {
		x.takes = append(x.takes, taking{at, m[1]})
	}
}

// taking is a place that takes a variable.
type taking struct {
	at   place
	name string
}

// scan reads a compose file, and those that it includes or extends, before the loader
// does: for what they take from the environment, and where they lead.
func (x *examined) scan(path string, text []byte, seen map[string]bool) {
	if seen[path] {
		return
	}
	if seen[path] = true; len(seen) > mostFiles {
		x.problem(nil, "%v", fmt.Errorf("it includes more than %d files", mostFiles))
		return
	}
	var documents []yaml.Node
	if yaml.Load(text, &documents, yaml.WithAllDocuments()) != nil {
		return // the loader says what is wrong
	}
	if x.tree == nil && len(documents) > 0 {
		x.tree = &documents[0]
	}
	for i := range documents {
		x.node(filepath.Dir(path), nil, &documents[i], seen)
	}
}

// node goes through all values. What an alias stands for is somewhere in the file.
func (x *examined) node(dir string, at place, n *yaml.Node, seen map[string]bool) {
	if n.ShortTag() == "!!binary" { // the loader decodes it, and would read what is not read here
		x.problem(at, "dlmtest does not support !!binary: write the text itself")
	}
	switch n.Kind {
	case yaml.ScalarNode:
		x.taken(at, n.Value)
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			below := at.below(key.Value)
			if key.Kind == yaml.AliasNode {
				x.problem(at, "dlmtest does not support an alias (*%s) as the name of a field: write the name itself", key.Value)
			}
			if key.ShortTag() == "!!merge" && key.Value != "<<" {
				x.problem(below, "dlmtest does not support !!merge: write << itself")
			}
			if value.Kind == yaml.AliasNode {
				value = value.Alias
			}
			switch {
			case key.Value == "include" && value.Kind == yaml.SequenceNode:
				x.includes(dir, below, value, seen)
			case key.Value == "extends" && value.Kind == yaml.MappingNode:
				x.extends(dir, below.below("file"), value, 0, seen)
			}
			x.node(dir, below, key, seen)
			if n.Content[i+1].Kind != yaml.AliasNode {
				x.node(dir, below, value, seen)
			}
		}
	default:
		for _, c := range n.Content {
			x.node(dir, at, c, seen)
		}
	}
}

// extends follows the file of an extends, its own or one that is merged into it.
func (x *examined) extends(dir string, at place, n *yaml.Node, depth int, seen map[string]bool) {
	switch {
	case depth > 20:
		x.problem(at, "too much is merged into it")
	case n.Kind == yaml.AliasNode:
		x.extends(dir, at, n.Alias, depth+1, seen)
	case n.Kind == yaml.SequenceNode:
		for _, c := range n.Content {
			x.extends(dir, at, c, depth+1, seen)
		}
	case n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			switch n.Content[i].Value {
			case "file":
				x.follow(dir, at, n.Content[i+1], seen)
			case "<<":
				x.extends(dir, at, n.Content[i+1], depth+1, seen)
			}
		}
	}
}

// includes follows the files of an include, short or long.
func (x *examined) includes(dir string, at place, list *yaml.Node, seen map[string]bool) {
	for _, n := range list.Content {
		if n.Kind == yaml.AliasNode {
			n = n.Alias
		}
		if n.Kind != yaml.MappingNode {
			x.follow(dir, at, n, seen)
			continue
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if name := n.Content[i].Value; name == "path" {
				x.follow(dir, at.below(name), n.Content[i+1], seen)
			} else {
				x.problem(at.below(name), "dlmtest does not support it: write the path alone")
			}
		}
	}
}

// follow reads the file, or the files, that a value names.
func (x *examined) follow(dir string, at place, value *yaml.Node, seen map[string]bool) {
	switch value.Kind {
	case yaml.AliasNode:
		x.follow(dir, at, value.Alias, seen)
		return
	case yaml.SequenceNode:
		for _, n := range value.Content {
			x.follow(dir, at, n, seen)
		}
		return
	}
	path := value.Value
	if strings.Contains(path, "$") {
		x.problem(at, "%q: write the path of a file without a variable", path)
		return
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	real, inside, err := x.inside(path)
	if err == nil && !inside {
		err = fmt.Errorf("%q is not below the compose file's folder; bring it there", value.Value)
	}
	if err == nil {
		err = x.variablesBeside(at, path)
	}
	if err != nil {
		x.problem(at, "%v", err)
		return
	}
	text, err := bounded.ReadYAML(real)
	if err != nil {
		x.problem(at, "%v", err)
		return
	}
	x.scan(path, text, seen)
}

// variablesBeside looks at the .env beside an included file, which the loader reads too.
func (x *examined) variablesBeside(at place, path string) error {
	env, inside, err := x.inside(filepath.Join(filepath.Dir(path), ".env"))
	switch {
	case err != nil:
		return nil // there is none
	case !inside:
		return fmt.Errorf("the .env beside %q leads out of the compose file's folder; remove it", path)
	}
	if info, err := os.Stat(env); err == nil && info.IsDir() {
		return nil // as a virtual environment of Python is called, which the loader passes over
	}
	text, err := bounded.ReadFile(env, bounded.YAML)
	x.taken(at, string(text))
	return err
}
