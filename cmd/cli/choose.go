package cli

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/internal/near"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/scenarios"
)

// named is a scenario and how it was asked for: by its name or as the path of a file.
type named struct {
	given    string
	scenario scenarios.Scenario
}

// chooseScenarios resolves names, all, globs and paths of files.
func chooseScenarios(words []string) ([]named, error) {
	given, err := choose("scenario", words, scenarios.Names(), scenarios.Names())
	if err != nil {
		return nil, err
	}
	var all []named
	for _, word := range given {
		s, err := scenarios.Load(word)
		if err != nil {
			return nil, usageError{err}
		}
		if slices.ContainsFunc(all, func(n named) bool { return n.scenario.Name == s.Name }) {
			return nil, usageError{fmt.Errorf("--scenario %s: there are two scenarios with the name %q; give one of them another name", word, s.Name)}
		}
		all = append(all, named{word, *s})
	}
	return all, nil
}

// chooseBackends resolves names, all and globs. all leaves out those that are broken on purpose.
func chooseBackends(words []string) ([]string, error) {
	chosen, err := choose("backend", words, backends(), locks.Intact())
	for _, b := range chosen {
		if err == nil && !slices.Contains(backends(), b) {
			err = usageError{unknown("backend", b, near.Nearest(b, backends()), "dlmtest list")}
		}
	}
	return chosen, err
}

// choose replaces all and globs by names, in order, each once. What is neither
// stays as it is.
func choose(flag string, words, known, all []string) (chosen []string, err error) {
	for _, word := range split(words) {
		found := []string{word}
		switch {
		case word == "":
			continue
		case word == "all":
			found = all
		case strings.ContainsAny(word, "*?[") && filepath.Ext(word) == "": // a file may be named as it likes
			if found, err = match(flag, word, known); err != nil {
				return nil, err
			}
		}
		for _, f := range found {
			if !slices.Contains(chosen, f) {
				chosen = append(chosen, f)
			}
		}
	}
	if len(chosen) == 0 {
		more := ""
		if flag == "scenario" {
			more = ", or the path of a YAML file"
		}
		return nil, usageError{fmt.Errorf("--%s is missing; all, a glob, or one of %v%s", flag, known, more)}
	}
	return chosen, nil
}

// split cuts lists at their commas. The path of a file may have commas of its own.
func split(words []string) (all []string) {
	for _, word := range words {
		if _, err := os.Stat(word); err == nil {
			all = append(all, word)
		} else {
			all = append(all, strings.Split(word, ",")...)
		}
	}
	return all
}

// match lists the names that a glob matches: one at least.
func match(flag, glob string, known []string) (found []string, err error) {
	for _, name := range known {
		ok, err := path.Match(glob, name)
		if err != nil {
			return nil, usageError{fmt.Errorf("--%s %s: no glob: a [ is not closed, or a range is empty", flag, glob)}
		}
		if ok {
			found = append(found, name)
		}
	}
	if len(found) == 0 {
		plain := strings.Trim(glob, "*?[]-/")
		return nil, usageError{unknown(flag, glob, nearAny(plain, known), "dlmtest list")}
	}
	return found, nil
}

// nearAny finds the names that come near to a part of a glob, or that start nearly so.
func nearAny(part string, known []string) []string {
	if nearest := near.Nearest(part, known); len(nearest) > 0 {
		return nearest
	}
	var starts []string
	for _, name := range known {
		start, _, _ := strings.Cut(strings.ReplaceAll(name, "/", "-"), "-")
		if len(near.Nearest(part, []string{start})) > 0 {
			starts = append(starts, name)
		}
	}
	return starts[:min(3, len(starts))]
}

// completeList completes the last word of a list with commas.
func completeList(words []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		before := typed[:strings.LastIndexByte(typed, ',')+1]
		all := make([]string, len(words))
		for i, w := range words {
			all[i] = before + w
		}
		return all, cobra.ShellCompDirectiveDefault
	}
}
