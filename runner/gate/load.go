package gate

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/dlmtest/dlmtest/internal/bounded"
	"github.com/dlmtest/dlmtest/internal/near"
	"github.com/dlmtest/dlmtest/scenarios"
)

// Load reads a gate file strictly. Errors about its content are scenarios.Problems,
// with line numbers.
func Load(path string) (*Config, error) {
	data, err := bounded.ReadNamed(path, bounded.YAML)
	if err != nil {
		return nil, fmt.Errorf("the gate's file: %w; dlmtest gate init writes one from a run", err)
	}
	c, err := Parse(path, data)
	if err != nil {
		return nil, err
	}
	for i, cell := range c.Cells { // somebody else may have written it, and a pipe in place of a file has no end
		if info, err := os.Stat(cell.Scenario); isPath(cell.Scenario) && err == nil && !info.Mode().IsRegular() {
			return nil, c.ProblemAt(fmt.Sprintf("cells[%d].scenario", i), fmt.Errorf("%s is no file", cell.Scenario))
		}
	}
	return c, nil
}

// Parse is Load of what was read. name is the file's path: scenarios that are files
// are looked for beside it.
func Parse(name string, data []byte) (*Config, error) {
	c := &Config{file: name}
	lines, err := scenarios.Document(name, data, c, func() scenarios.Problems {
		v := validator{config: c}
		v.validate()
		return v.problems
	})
	if err != nil {
		return nil, err
	}
	c.lines = lines
	c.fill()
	return c, nil
}

// Check is Parse for a gate that is no file: it refuses what a file may not say, with
// scenarios.Problems, and fills in what need not be said.
func (c *Config) Check() error {
	v := validator{config: c}
	if v.validate(); len(v.problems) > 0 {
		return v.problems
	}
	c.fill()
	return nil
}

// fill puts in what the file need not say.
func (c *Config) fill() {
	c.Name = cmp.Or(c.Name, filepath.Base(c.file))
	c.Parallel = cmp.Or(c.Parallel, 1)
	for i := range c.Cells {
		cell := &c.Cells[i]
		cell.Library = cmp.Or(cell.Library, c.Library, Library)
		cell.Count = cmp.Or(cell.Count, c.Count, DefaultCount)
		cell.Seed = cmp.Or(cell.Seed, c.Seed)
		cell.Others = cmp.Or(cell.Others, Holds)
		flags := maps.Clone(c.Flags)
		if flags == nil {
			flags = map[string]string{}
		}
		maps.Copy(flags, cell.Flags)
		cell.Flags = flags
		if isPath(cell.Scenario) && !filepath.IsAbs(cell.Scenario) {
			cell.Scenario = filepath.Join(filepath.Dir(c.file), cell.Scenario)
		}
	}
}

// Line is the line of a path in the file, such as "cells[0].expect.fairness"; of what
// the file does not say it is the line around it.
func (c *Config) Line(path string) int {
	for {
		if line := c.lines[path]; line > 0 || path == "" {
			return line
		}
		path = path[:max(0, strings.LastIndexAny(path, ".["))]
	}
}

// Has says whether the file has a path.
func (c *Config) Has(path string) bool { return c.lines[path] > 0 }

// ProblemAt is something that is wrong with a place in the file.
func (c *Config) ProblemAt(path string, err error) scenarios.Problem {
	return scenarios.Problem{File: c.file, Line: c.Line(path), Path: path, Text: err.Error()}
}

// Wants are the words of an expectation.
var Wants = []string{string(Holds), string(Weakness), string(MustDetect), string(NotJudged), string(ToDecide)}

// CheckWord implements scenarios.Word.
func (e *Expectation) CheckWord(word string) error {
	if !slices.Contains(Wants, word) {
		return fmt.Errorf("unknown expectation %q%s", word, near.Hint(word, Wants))
	}
	return nil
}

// UnmarshalYAML reads one word or a map.
func (e *Expectation) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		e.Is = Want(node.Value)
		return nil
	}
	type plain Expectation
	return node.Load((*plain)(e))
}

// SetCount gives every cell another count.
func (c *Config) SetCount(count int) error {
	for i := range c.Cells {
		c.Cells[i].Count = count
		for property, e := range c.Cells[i].Expect {
			if e.AtLeast > count {
				return fmt.Errorf("%s must detect %s in at least %d runs", c.Cells[i].Label(), property, e.AtLeast)
			}
		}
	}
	return nil
}
