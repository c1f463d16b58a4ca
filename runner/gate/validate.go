package gate

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/internal/near"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/locks/libraries"
	"github.com/dlmtest/dlmtest/scenarios"
)

// validator collects what is wrong with the values of a file.
type validator struct {
	config   *Config
	problems scenarios.Problems
}

func (v *validator) problem(path, format string, args ...any) {
	v.problems = append(v.problems, scenarios.Problem{Path: path, Text: fmt.Sprintf(format, args...)})
}

func (v *validator) validate() {
	c := v.config
	v.library("library", c.Library)
	v.numbers("", c.Count, c.Seed)
	if c.Parallel < 0 {
		v.problem("parallel", "parallel: %d: want at least 1", c.Parallel)
	}
	if c.Budget != "" {
		if d, err := time.ParseDuration(c.Budget); err != nil || d <= 0 {
			v.problem("budget", "budget: %q: want a time such as 20m", c.Budget)
		}
	}
	if len(c.Cells) == 0 {
		v.problem("cells", "cells: there are none; an empty gate proves nothing")
	}
	seen := map[string]bool{}
	for i, cell := range c.Cells {
		path := fmt.Sprintf("cells[%d]", i)
		v.cell(path, cell)
		if seen[cell.Label()] {
			v.problem(path, "%s stands twice; give one of them a name of its own (name: …)", cell.Label())
		}
		seen[cell.Label()] = true
	}
}

func (v *validator) cell(path string, c Cell) {
	v.library(path+".library", c.Library)
	v.numbers(path+".", c.Count, c.Seed)
	switch {
	case c.Scenario == "":
		v.problem(path, "scenario is missing; see dlmtest list scenarios")
	case !isPath(c.Scenario) && !slices.Contains(scenarios.Names(), c.Scenario):
		v.problem(path+".scenario", "unknown scenario %q%s", c.Scenario, near.Hint(c.Scenario, scenarios.Names()))
	}
	switch {
	case c.Backend == "":
		v.problem(path, "backend is missing; see dlmtest list backends")
	case !slices.Contains(locks.Names(), c.Backend):
		v.problem(path+".backend", "unknown backend %q%s", c.Backend, near.Hint(c.Backend, locks.Names()))
	}
	detects := false
	for _, property := range slices.Sorted(maps.Keys(c.Expect)) {
		at := path + ".expect." + property
		if !slices.Contains(checker.Names(), property) {
			v.problem(at, "unknown property %q%s", property, near.Hint(property, checker.Names()))
		}
		v.expectation(at, c.Expect[property], cmp.Or(c.Count, v.config.Count, DefaultCount))
		detects = detects || c.Expect[property].Is == MustDetect
	}
	switch {
	case !slices.Contains([]Want{"", Holds, NotJudged}, c.Others):
		v.problem(path+".others", "others: %q: want holds or not-judged", c.Others)
	case c.Others == NotJudged && !detects:
		v.problem(path+".others", "others: not-judged is for locks that are broken on purpose, and nothing here is must-detect")
	}
}

func (v *validator) expectation(path string, e Expectation, count int) {
	if err := e.CheckWord(string(e.Is)); err != nil {
		v.problem(path, "%s", err)
		return
	}
	if e.Is == ToDecide {
		v.problem(path, "%s", undecided(path[strings.LastIndexByte(path, '.')+1:], e))
	}
	if e.Is == Weakness && (strings.TrimSpace(e.Reason) == "" || strings.TrimSpace(e.Link) == "") {
		v.problem(path, "a known weakness needs a reason and a link: {is: known-weakness, reason: why it is accepted, link: where it is written down}")
	}
	if e.Is == NotJudged && strings.TrimSpace(e.Reason) == "" {
		v.problem(path, "not-judged needs a reason: {is: not-judged, reason: why nobody looks}")
	}
	if e.Link != "" && !isLink(e.Link) {
		v.problem(path+".link", "link: %q: want an address (https://…) or the path of a file", e.Link)
	}
	switch {
	case e.AtLeast != 0 && e.Is != MustDetect:
		v.problem(path+".at-least", "at-least is for must-detect alone")
	case e.AtLeast < 0 || e.AtLeast > count:
		v.problem(path+".at-least", "at-least: %d: want from 1 to the count of runs, %d", e.AtLeast, count)
	}
}

// undecided says what to write where a violation is neither called a bug nor a weakness.
func undecided(property string, e Expectation) string {
	text := property + " was violated, and nobody has decided what that is"
	if e.Seen != "" {
		text += fmt.Sprintf(" (%s)", strings.TrimSuffix(e.Seen, "."))
	}
	return text + fmt.Sprintf(`. A bug? Then write "%s: holds", and the gate fails until it is mended. `+
		`A weakness that you accept? Then write "%s: {is: known-weakness, reason: why you accept it, link: %s}"`,
		property, property, cmp.Or(e.Link, "where that is written down"))
}

func (v *validator) library(path, name string) {
	if name == "" || name == Library {
		return
	}
	if backend, err := libraries.Default(name); err != nil {
		v.problem(path, "library: %v", err)
	} else if _, err := libraries.Find(backend, name); err != nil { // its version
		v.problem(path, "library: %v", err)
	}
}

func (v *validator) numbers(prefix string, count, seed int) {
	if count < 0 || count > 10000 {
		v.problem(prefix+"count", "count: %d: want from 1 to 10000", count)
	}
	if seed < 0 {
		v.problem(prefix+"seed", "seed: %d: want 1 or more, or none for a new one", seed)
	}
}

// isLink says whether a text can be followed: an address, or a path without spaces.
func isLink(text string) bool {
	if strings.ContainsAny(text, " \t\n<>\"'`") {
		return false
	}
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "" || u.Scheme == "https" || u.Scheme == "http")
}

func isPath(scenario string) bool {
	return strings.ContainsRune(scenario, filepath.Separator) || strings.HasSuffix(scenario, ".yaml") || strings.HasSuffix(scenario, ".yml")
}

// scenarioName is the name of a scenario that may be given as a path.
func scenarioName(given string) string {
	if !isPath(given) {
		return given
	}
	return strings.TrimSuffix(filepath.Base(given), filepath.Ext(given))
}
