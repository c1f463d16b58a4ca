package settings

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// Default is every setting at its default.
func Default() Settings { return Settings{}.Resolved() }

// Resolved is s with the defaults of what it does not say.
func (s Settings) Resolved() Settings {
	for _, f := range fields {
		if v := f.value(&s); v.Kind() == reflect.String && v.IsZero() {
			v.SetString(f.Default)
		}
	}
	return s
}

// Brief is s without what is a default anyway.
func (s Settings) Brief() Settings {
	for _, f := range fields {
		if v := f.value(&s); v.Kind() == reflect.String && v.String() == f.Default {
			v.SetZero()
		}
	}
	return s
}

// Over is base with all that s says laid over it.
func (s Settings) Over(base Settings) Settings {
	for _, f := range fields {
		if f.Said(s) {
			f.Copy(&base, s)
		}
	}
	return base
}

// Stored is s as a file keeps it: without passwords, with paths that lead to the same
// from another folder.
func (s Settings) Stored() Settings {
	for _, f := range fields {
		switch v := f.Ptr(&s).(type) {
		case *[]string:
			if f.Secret {
				*v = f.hide(*v)
			}
		case *string:
			if f.Path {
				*v = Absolute(*v)
			}
		}
	}
	return s
}

// Absolute is a path from the root; "" stays.
func Absolute(path string) string {
	if path == "" {
		return ""
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// InWords is each setting by its flag, for a reader of a report.
func (s Settings) InWords() map[string]string {
	all := map[string]string{}
	for _, f := range fields {
		all[f.Flag] = strings.Join(f.Texts(s), " ")
	}
	return all
}

// Problem is a setting that cannot be.
type Problem struct {
	Field Field
	Value string
	Want  string
}

// Check lists what cannot be, whatever the backend: each is a word that the setting does
// not have, a number below 0, or no timeout. The empty value always can be.
func (s Settings) Check() (all []Problem) {
	for _, f := range fields {
		want := ""
		switch v := f.Ptr(&s).(type) {
		case *string:
			if *v != "" && f.Words != nil && !slices.Contains(f.Words, *v) {
				want = "want " + strings.Join(f.Words, ", ")
			}
		case *int:
			if *v < 0 {
				want = "must not be below 0"
			}
		case *Timeout:
			if _, err := v.Of(1); err != nil {
				want = err.Error()
			}
		}
		if want != "" {
			all = append(all, Problem{f, fmt.Sprint(f.value(&s).Interface()), want})
		}
	}
	return all
}

// Args are settings as they are typed: those with these flags, or all, that are not at
// their default anyway.
func (s Settings) Args(flags ...string) (words []string) {
	for _, f := range fields {
		if len(flags) > 0 && !slices.Contains(flags, f.Flag) || len(flags) == 0 && !f.Said(s.Brief()) {
			continue
		}
		if _, yes := f.Ptr(&s).(*bool); yes {
			words = append(words, fmt.Sprintf("--%s=%v", f.Flag, f.value(&s)))
			continue
		}
		for _, text := range f.Texts(s) {
			words = append(words, "--"+f.Flag, text)
		}
	}
	return words
}

// IsZero says that nothing was said: all is at its default.
func (s Settings) IsZero() bool {
	return !slices.ContainsFunc(fields, func(f Field) bool { return f.Said(s) })
}
