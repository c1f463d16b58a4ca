package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dlmtest/dlmtest/internal/near"
)

// flagError adds the flags that come near to an unknown one.
func flagError(cmd *cobra.Command, err error) error {
	if invalid := (*pflag.InvalidValueError)(nil); errors.As(err, &invalid) && wanted[invalid.GetFlag().Value.Type()] != "" {
		f := invalid.GetFlag()
		return usageError{fmt.Errorf("--%s %q: want %s; see %s --help", f.Name, invalid.GetValue(), wanted[f.Value.Type()], cmd.CommandPath())}
	}
	name, ok := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !ok {
		return usageError{fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())}
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return usageError{unknown("flag", "--"+name, prefixed("--", near.Nearest(name, names)), cmd.CommandPath()+" --help")}
}

// wanted is what a flag of a type takes. Of other types the flag's own error says it.
var wanted = map[string]string{
	"int": "a whole number, such as 3", "int64": "a whole number, such as 3", "uint64": "a whole number from 0, such as 7",
	"float64": "a number, such as 0.5", "duration": "a time with its unit, such as 500ms, 2s or 10m", "bool": "true or false",
}

func prefixed(prefix string, words []string) []string {
	for i := range words {
		words[i] = prefix + words[i]
	}
	return words
}

// unknown says that a word is not known, what comes near to it, and where all are listed.
func unknown(what, word string, nearest []string, where string) error {
	hint := ""
	if len(nearest) > 0 {
		hint = fmt.Sprintf("; did you mean %s?", strings.Join(nearest, " or "))
	}
	return fmt.Errorf("unknown %s %q%s; see %s", what, word, hint, where)
}

// oneOf checks the value of a flag against its choices.
func oneOf(flag, value string, choices ...string) error {
	return among("--"+flag+" "+value, value, choices...)
}

// among checks a word, of which a message says what, against its choices.
func among(what, word string, choices ...string) error {
	if slices.Contains(choices, word) {
		return nil
	}
	hint := ""
	if nearest := near.Nearest(word, choices); len(nearest) > 0 {
		hint = fmt.Sprintf(" (did you mean %s?)", strings.Join(nearest, " or "))
	}
	return usageError{fmt.Errorf("%s: want %s%s", what, strings.Join(choices, ", "), hint)}
}

func atLeastOne(flag string, n int) error {
	if n < 1 {
		return usageError{fmt.Errorf("--%s %d: want at least 1", flag, n)}
	}
	return nil
}

// meant adds to a mistake that cobra has found how the command is used.
func meant(cmd *cobra.Command, err error) error {
	switch {
	case err == nil || !isCobraUsage(err):
		return err
	case strings.HasPrefix(err.Error(), "unknown command"):
		return usageError{fmt.Errorf("%s; see %s --help", strings.TrimSpace(err.Error()), cmd.CommandPath())}
	}
	return usageError{fmt.Errorf("%w; usage: %s", err, cmd.UseLine())}
}

// isCobraUsage tells the errors of cobra itself, which have no type: an unknown
// command, wrong arguments, a required flag that is missing.
func isCobraUsage(err error) bool {
	for _, start := range []string{"unknown command", "accepts ", "requires ", "required flag", "invalid argument"} {
		if strings.HasPrefix(err.Error(), start) {
			return true
		}
	}
	return false
}
