package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/internal/near"
	"github.com/dlmtest/dlmtest/nemesis"
)

// UnmarshalYAML fills in what a file need not say.
func (f *Fault) UnmarshalYAML(node *yaml.Node) error {
	type plain Fault
	p := plain{On: "at", Count: 1}
	if err := node.Load(&p); err != nil {
		return err
	}
	*f = Fault(p)
	return nil
}

// UnmarshalYAML reads a plain duration or a map.
func (s *Span) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		d, err := ParseDuration(node.Value)
		*s = Span{Min: d, Max: d}
		return err
	}
	type plain Span
	return node.Load((*plain)(s))
}

// MarshalYAML writes a plain duration where that says it all.
func (s Span) MarshalYAML() (any, error) {
	if s.Until == "" && s.Min == s.Max {
		return s.Max, nil
	}
	type plain Span
	return plain(s), nil
}

// UnmarshalYAML reads the name of a fault, which must have healed, or a map.
func (a *After) UnmarshalYAML(node *yaml.Node) error {
	*a = After{When: nemesis.WhenHealed}
	if node.Kind == yaml.ScalarNode {
		return node.Load(&a.Fault)
	}
	type plain After
	return node.Load((*plain)(a))
}

// MarshalYAML writes the name alone where that says it all.
func (a After) MarshalYAML() (any, error) {
	if a.When == nemesis.WhenHealed {
		return a.Fault, nil
	}
	type plain After
	return plain(a), nil
}

// UnmarshalYAML reads a verdict, or a map with a verdict and a note.
func (e *Expectation) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		return e.setVerdict(node.Value)
	}
	var words expectation
	if err := node.Load(&words); err != nil {
		return err
	}
	e.Note, e.OnRead = words.Note, words.OnRead
	if e.OnRead != "" {
		if err := checkVerdict(e.OnRead); err != nil {
			return err
		}
	}
	return e.setVerdict(words.Verdict)
}

// MarshalYAML writes a verdict alone where there is no note.
func (e Expectation) MarshalYAML() (any, error) {
	word := e.Verdict.String()
	if e.Sometimes {
		word = mayBe + word
	}
	if e.Note == "" && e.OnRead == "" {
		return word, nil
	}
	return expectation{word, e.Note, e.OnRead}, nil
}

// expectation is one as it stands in a file.
type expectation struct {
	Verdict string `yaml:"verdict"`
	Note    string `yaml:"note,omitempty"`
	OnRead  string `yaml:"fence-on-read,omitempty"`
}

// mayBe comes before a verdict that some runs show and others do not.
const mayBe = "may be "

var verdicts = []string{
	checker.Holds.String(), checker.Violated.String(), checker.Unknown.String(), checker.NA.String(),
	mayBe + checker.Violated.String(), mayBe + checker.Unknown.String(),
}

func (e *Expectation) setVerdict(word string) error {
	if err := checkVerdict(word); err != nil {
		return err
	}
	word, e.Sometimes = strings.CutPrefix(word, mayBe)
	return e.Verdict.UnmarshalText([]byte(word))
}

func checkVerdict(word string) error {
	if !slices.Contains(verdicts, word) {
		return fmt.Errorf("unknown verdict %q%s", word, near.Hint(word, verdicts))
	}
	return nil
}
