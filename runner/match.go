package runner

import (
	"fmt"
	"strings"

	"github.com/dlmtest/dlmtest/checker"
)

// Kind is what a second run shows beside a first.
type Kind string

// The kinds.
const (
	Reproduced    Kind = "reproduced"     // the same properties are violated
	NotReproduced Kind = "not reproduced" // none of them is
	Other         Kind = "other"          // some of them are not, or others are
	Undecided     Kind = "undecided"      // some were not seen violated, and the run is inconclusive
)

// Match compares a second run with the first, by property.
type Match struct {
	Kind    Kind     `json:"kind"`
	Same    []string `json:"same,omitempty"`    // violated in both
	Missing []string `json:"missing,omitempty"` // violated in the first only
	New     []string `json:"new,omitempty"`     // violated in the second only
	Then    string   `json:"then"`              // the verdict of the first
	Now     string   `json:"now"`               // and of the second
}

// Compare says whether a second run shows what the first has shown. A first run with
// no violation is reproduced by one of the same verdict.
func Compare(first, second checker.Result) Match {
	m := Match{Then: first.Verdict.String(), Now: second.Verdict.String()}
	now := violated(second)
	for _, p := range first.Properties {
		switch {
		case p.Verdict == checker.Violated && now[p.Name]:
			m.Same = append(m.Same, p.Name)
		case p.Verdict == checker.Violated:
			m.Missing = append(m.Missing, p.Name)
		}
	}
	then := violated(first)
	for _, p := range second.Properties {
		if p.Verdict == checker.Violated && !then[p.Name] {
			m.New = append(m.New, p.Name)
		}
	}
	m.Kind = m.kind()
	return m
}

func (m Match) kind() Kind {
	unknown := checker.Unknown.String()
	switch {
	case len(m.Missing)+len(m.New) == 0 && m.Then == m.Now:
		return Reproduced
	case len(m.New) == 0 && m.Now == unknown:
		return Undecided
	case len(m.New) == 0 && len(m.Same) == 0 && len(m.Missing) > 0:
		return NotReproduced
	}
	return Other
}

func violated(r checker.Result) map[string]bool {
	all := map[string]bool{}
	for _, p := range r.Properties {
		if p.Verdict == checker.Violated {
			all[p.Name] = true
		}
	}
	return all
}

// String is the match in a few words.
func (m Match) String() string {
	text := string(m.Kind)
	switch {
	case m.Kind == Reproduced && len(m.Same) > 0:
		text += ": " + strings.Join(m.Same, ", ")
	case m.Kind == Reproduced:
		text += ": " + m.Now
	}
	var more []string
	for _, x := range []struct {
		what  string
		names []string
	}{{"again violated", m.again()}, {"not violated any more", m.Missing}, {"violated now", m.New}} {
		if len(x.names) > 0 {
			more = append(more, fmt.Sprintf("%s: %s", x.what, strings.Join(x.names, ", ")))
		}
	}
	if m.Kind != Reproduced && m.Then != m.Now {
		more = append(more, fmt.Sprintf("then %s, now %s", m.Then, m.Now))
	}
	if len(more) == 0 {
		return text
	}
	return text + " (" + strings.Join(more, "; ") + ")"
}

// again is what is worth saying beside what is missing or new.
func (m Match) again() []string {
	if m.Kind == Reproduced {
		return nil
	}
	return m.Same
}
