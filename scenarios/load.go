package scenarios

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/dlmtest/dlmtest/internal/bounded"
	"github.com/dlmtest/dlmtest/internal/near"
)

//go:embed *.yaml
var files embed.FS

// Names are the scenarios that are built in, in alphabetical order.
func Names() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic("scenarios: " + err.Error()) // cannot fail: it is embedded
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	slices.Sort(names) // of files, gc-pause-read.yaml came before gc-pause.yaml
	return names
}

// Load reads a built-in scenario by its name, or a file by its path. What has a
// slash or ends in .yaml or .yml is a path.
func Load(nameOrPath string) (*Scenario, error) {
	if strings.ContainsRune(nameOrPath, filepath.Separator) || isYAML(nameOrPath) {
		data, err := bounded.ReadNamed(nameOrPath, bounded.YAML)
		if err != nil {
			return nil, fmt.Errorf("scenario: %w", err)
		}
		return Parse(nameOrPath, data)
	}
	data, err := files.ReadFile(nameOrPath + ".yaml")
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		return nil, fmt.Errorf("unknown scenario %q%s (or give the path of a .yaml file)", nameOrPath, near.Hint(nameOrPath, Names()))
	}
	if err != nil {
		return nil, fmt.Errorf("scenario: %w", err)
	}
	return Parse(nameOrPath+".yaml", data)
}

func isYAML(path string) bool {
	ext := filepath.Ext(path)
	return ext == ".yaml" || ext == ".yml"
}

// Parse reads a scenario strictly; name is the file's, for messages. Its errors
// about the content are Problems, with line numbers.
func Parse(name string, data []byte) (*Scenario, error) {
	s := defaults()
	_, err := Document(name, data, &s, func() Problems {
		var invalid Problems
		errors.As(s.Validate(), &invalid)
		return invalid
	})
	if err != nil {
		return nil, err
	}
	return &s, nil
}

// tree is the top of the one document that a file must hold.
func tree(name string, data []byte) (*yaml.Node, error) {
	if err := bounded.CheckYAML(name, data); err != nil {
		return nil, Problems{{File: name, Text: strings.TrimPrefix(err.Error(), name+": ")}}
	}
	var documents []yaml.Node
	if err := yaml.Load(data, &documents, yaml.WithAllDocuments()); err != nil {
		return nil, syntax(name, err)
	}
	if len(documents) > 1 {
		return nil, Problems{{File: name, Line: documents[1].Line, Text: "a second document starts; a file holds one"}}
	}
	if len(documents) == 0 {
		return nil, Problems{{File: name, Line: 1, Text: "the file is empty"}}
	}
	root := &documents[0]
	if root.Kind == yaml.DocumentNode && len(root.Content) == 1 {
		root = root.Content[0]
	}
	return root, nil
}

// syntax is an error of the YAML library itself.
func syntax(name string, err error) Problems {
	var e *yaml.LoadError
	if errors.As(err, &e) {
		return Problems{{File: name, Line: e.Mark.Line, Text: e.Message}}
	}
	return Problems{{File: name, Text: err.Error()}}
}

// YAML is the scenario as a file, with all that was left to its default.
// Parse gives the same scenario back.
func (s *Scenario) YAML() []byte {
	data, err := yaml.Dump(s)
	if err != nil {
		panic("scenarios: " + err.Error()) // cannot fail: plain data
	}
	return data
}
