package faultcheck

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/scenarios"
)

// Broken is a fault that does not do here what it says.
type Broken struct {
	Runtime   string   `json:"runtime"`
	Fault     string   `json:"fault"`     // its kind
	Why       []string `json:"why"`       // a sentence each
	Scenarios []string `json:"scenarios"` // that have such a fault
}

// BrokenOf names the kinds of faults of which a row disagrees, and the scenarios that need them.
func BrokenOf(lines []Line) (all []Broken) {
	for _, l := range lines {
		if l.State != Disagrees {
			continue
		}
		for _, kind := range l.Kinds {
			i := slices.IndexFunc(all, func(b Broken) bool { return b.Runtime == l.Runtime && b.Fault == kind })
			if i < 0 {
				all = append(all, Broken{Runtime: l.Runtime, Fault: kind, Scenarios: having(kind)})
				i = len(all) - 1
			}
			all[i].Why = append(all[i].Why, fmt.Sprintf("%s, but: %s", l.What, l.Why))
		}
	}
	return all
}

// having lists the built-in scenarios with a kind of fault.
func having(kind string) (names []string) {
	for _, name := range scenarios.Names() {
		file, err := scenarios.Load(name)
		if err != nil {
			continue // a built-in one can be loaded
		}
		if slices.ContainsFunc(slices.Concat(file.Faults, file.Random.Mix), func(f scenarios.Fault) bool { return f.Fault == kind }) {
			names = append(names, name)
		}
	}
	return names
}

// Unseen are the lines that no run could measure.
func Unseen(lines []Line) []Line {
	return slices.DeleteFunc(slices.Clone(lines), func(l Line) bool { return l.State != Unmeasured })
}

// numbers of processes say nothing to a reader of the page.
var numbers = regexp.MustCompile(` and are gone: \[[0-9 ]*\]`)

// Markdown is the table of docs/faults-measured.md: of each measurement the figures of its worst run, and how often
// it agreed in each runtime.
func Markdown(lines []Line) string {
	var b strings.Builder
	b.WriteString("| fault | what must be | said by its proof | measured | agreed |\n|---|---|---|---|---|\n")
	done := map[[2]string]bool{}
	for _, l := range lines {
		key := [2]string{l.Fault, l.What}
		if done[key] {
			continue
		}
		done[key] = true
		var agreed []string
		shown := l
		for _, m := range lines {
			if [2]string{m.Fault, m.What} != key {
				continue
			}
			text := fmt.Sprintf("%s %d of %d", m.Runtime, m.Agreed, m.Runs)
			if m.Runs == 0 {
				text = fmt.Sprintf("%s not measured: %s", m.Runtime, m.Why)
			}
			agreed = append(agreed, text)
			if worse(m.State) > worse(shown.State) {
				shown = m
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", cell(l.Fault), cell(l.What), cell(shown.Said), cell(shown.Measured), cell(strings.Join(agreed, ", ")))
	}
	return b.String()
}

func cell(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(numbers.ReplaceAllString(text, " and are gone"), "|", "\\|"), "\n", " ")
}
