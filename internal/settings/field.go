package settings

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/dlmtest/dlmtest/internal/secret"
)

// Field is one setting, as its tags have it.
type Field struct {
	Name             string // of the Go field
	Flag, JSON, YAML string // "-": it has none there
	Words            []string
	Default          string // what the empty value stands for
	Help, Value      string // Value is the word of Help that the value is called by; "": its type
	Trust            bool   // a file alone cannot ask for it
	Secret, Path     bool
	Command          bool // the list is the words of one command
	at               int
}

// Fields are all settings, in the order in which a reader of --help needs them.
func Fields() []Field { return fields }

var fields = read()

func read() (all []Field) {
	t := reflect.TypeFor[Settings]()
	for i := range t.NumField() {
		f := t.Field(i)
		name := func(tag string) string { word, _, _ := strings.Cut(f.Tag.Get(tag), ","); return word }
		one := Field{Name: f.Name, Flag: name("flag"), JSON: name("json"), YAML: name("yaml"),
			Default: f.Tag.Get("default"), Help: help[name("flag")], Value: f.Tag.Get("value"),
			Trust: f.Tag.Get("trust") != "", Secret: f.Tag.Get("secret") != "", Path: f.Tag.Get("path") != "", Command: f.Tag.Get("command") != "", at: i}
		if words := f.Tag.Get("words"); words != "" {
			one.Words = strings.Split(words, ",")
		}
		all = append(all, one)
	}
	return all
}

// Help is the line of a field of Settings, by its Go name; docs/schema has it as the field's words.
func (Settings) Help(name string) string {
	for _, f := range fields {
		if f.Name == name {
			return f.Help
		}
	}
	return ""
}

// Of is the field with a flag. It panics where there is none, which is a mistake of ours.
func Of(flag string) Field {
	for _, f := range fields {
		if f.Flag == flag {
			return f
		}
	}
	panic("settings: no setting has the flag " + flag)
}

func (f Field) value(s *Settings) reflect.Value { return reflect.ValueOf(s).Elem().Field(f.at) }

// Ptr points at the setting: a *string, *Timeout, *int, *bool or *[]string.
func (f Field) Ptr(s *Settings) any { return f.value(s).Addr().Interface() }

// Said says whether the setting has a value of its own.
func (f Field) Said(s Settings) bool {
	v := f.value(&s)
	return !v.IsZero() && (v.Kind() != reflect.Slice || v.Len() > 0)
}

// Copy gives one setting of from to another set.
func (f Field) Copy(to *Settings, from Settings) { f.value(to).Set(f.value(&from)) }

// Texts are the values of the setting as they are typed, without secrets: several of a list.
func (f Field) Texts(s Settings) []string {
	s = s.Stored()
	switch v := f.Ptr(&s).(type) {
	case *[]string:
		if f.Command && len(*v) > 0 {
			return []string{Shell(*v)}
		}
		return *v
	default:
		return []string{fmt.Sprint(f.value(&s).Interface())}
	}
}

// hide leaves the secrets of a list out. What an endpoint may hold is known better.
func (f Field) hide(words []string) []string {
	if f.Name == "Endpoints" {
		return secret.Endpoints(words)
	}
	return secret.Words(words)
}

// Shell writes the words of a command so that a shell, and --adapter, read them back.
func Shell(words []string) string {
	var all []string
	for _, w := range words {
		all = append(all, "'"+strings.ReplaceAll(w, "'", `'\''`)+"'")
	}
	return strings.Join(all, " ")
}

// Plain are the values of the setting as they are: several of a list.
func (f Field) Plain(s Settings) []string {
	if v, list := f.Ptr(&s).(*[]string); list {
		return *v
	}
	return []string{fmt.Sprint(f.value(&s))}
}
