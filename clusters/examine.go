package clusters

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/dlmtest/dlmtest/internal/near"
)

// examined is what there is to say of a compose file before anything of it is used.
type examined struct {
	path     string
	folder   string          // of the file, with no link on the way
	builtIn  bool            // the file is dlmtest's own
	allow    bool            // what reaches the host is allowed
	set      map[string]bool // variables that dlmtest sets itself
	tree     *yaml.Node      // of the file, for the lines
	problems []error
	reaches  []string            // what reaches the host
	notes    []string            // what changes nothing, and why
	docker   map[string][]string // service → its fields that only Docker honours
	takes    []taking            // variables, wherever they stand
}

// place is a field in a file: with the name of what stands for * in its path.
type place []string

func (at place) below(name string) place { return append(slices.Clone(at), name) }

// service is the one that the place is in; "": none.
func (at place) service() string {
	if len(at) > 1 && at[0] == "services" {
		return at[1]
	}
	return ""
}

// String names the place as a reader does: service redis-1: deploy.resources.
func (at place) String() string {
	if name := at.service(); name != "" {
		return fmt.Sprintf("service %s: %s", name, strings.Join(at[2:], "."))
	}
	return strings.Join(at, ".")
}

// problem notes what is wrong at a place, with its line.
func (x *examined) problem(at place, format string, args ...any) {
	line := ""
	if n := lineAt(x.tree, at); n > 0 {
		line = fmt.Sprintf(":%d", n)
	}
	where := ""
	if len(at) > 0 {
		where = at.String() + ": "
	}
	x.problems = append(x.problems, fmt.Errorf("compose file %s%s: %s%s", x.path, line, where, fmt.Sprintf(format, args...)))
}

// reach notes what reaches the host. It is refused unless that is allowed.
func (x *examined) reach(at place, format string, args ...any) {
	what := fmt.Sprintf(format, args...)
	if !x.allow {
		x.problem(at, "%s; it reaches the host, so it is refused: take it out, or give --allow-host if you trust the file", what)
		return
	}
	x.reaches = append(x.reaches, fmt.Sprintf("%s: %s", at, what))
}

// note says once what changes nothing.
func (x *examined) note(name, why string) {
	if text := fmt.Sprintf("%s of the compose file changes nothing: %s", name, why); !slices.Contains(x.notes, text) {
		x.notes = append(x.notes, text)
	}
}

func (x *examined) err() error { return errors.Join(x.problems...) }

// project goes through all that the file says of the services of a profile.
func (x *examined) project(model map[string]any, profile string) {
	services, _ := model["services"].(map[string]any)
	active := map[string]any{}
	for name, s := range services {
		if m, ok := s.(map[string]any); ok && isActive(m["profiles"], profile) {
			active[name] = m
		}
	}
	model = maps.Clone(model)
	model["services"] = active
	x.walk("", nil, model)
	x.took(func(t taking) bool {
		name := t.at.service()
		return name == "" || active[name] != nil || services[name] == nil
	})
	slices.Sort(x.reaches)
	x.reaches = slices.Compact(x.reaches)
}

// took looks at the variables that the file takes where they count.
func (x *examined) took(counts func(taking) bool) {
	for _, t := range x.takes {
		if counts(t) {
			x.variable(t.at, t.name)
		}
	}
}

// isActive says whether a service is in a profile: one without any is in all.
func isActive(profiles any, profile string) bool {
	all, _ := profiles.([]any)
	return len(all) == 0 || slices.Contains(all, any(profile)) || slices.Contains(all, any("*"))
}

// walk looks at all fields of a mapping, or of each in a list.
func (x *examined) walk(pattern string, at place, value any) {
	switch v := value.(type) {
	case []any:
		for _, e := range v {
			x.walk(pattern, at, e)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			path := strings.TrimPrefix(pattern+"."+key, ".")
			f, known := fields[path]
			if any := pattern + ".*"; !known {
				if f, known = fields[any]; known {
					path = any
				}
			}
			x.treat(f, known, path, at.below(key), v[key])
		}
	case nil:
	default:
		if fields[pattern].treatment == within {
			x.problem(at, "want fields, and not %q", text(value))
		}
	}
}

// parents are the paths of fields that have fields of their own.
var parents = func() map[string]bool {
	all := map[string]bool{}
	for path := range fields {
		for i, c := range path {
			if c == '.' {
				all[path[:i]] = true
			}
		}
	}
	return all
}()

// treat does with one field what the table says.
func (x *examined) treat(f field, known bool, path string, at place, value any) {
	key := at[len(at)-1]
	switch {
	case !known && strings.HasPrefix(key, "x-"):
		x.extension(at, key)
		return
	case !known:
		x.problem(at, "dlmtest does not know this field; take it out")
		return
	case f.treatment == refused:
		if off, is := value.(bool); !is || off { // what is off is not asked for
			x.problem(at, "dlmtest does not support it, and leaves nothing out without a word: %s", f.say)
		}
		return
	case f.treatment == idle:
		x.note(strings.TrimPrefix(path, "services.*."), f.say)
	case f.treatment == inDocker && value != false:
		x.docker[at.service()] = append(x.docker[at.service()], strings.Join(at[2:], "."))
	}
	if f.look != nil {
		f.look(x, at, value)
	}
	if parents[path] {
		x.walk(path, at, value)
	}
}

// extension lets x- fields be anybody's, but for those that were meant for dlmtest.
func (x *examined) extension(at place, key string) {
	if strings.HasPrefix(key, "x-dlmtest") {
		x.problem(at, "dlmtest reads no x- field%s; what it reads are labels of a service: %s",
			near.Hint("dlmtest."+strings.TrimLeft(key[len("x-dlmtest"):], "-._"), labelNames), strings.Join(labelNames, ", "))
	}
}

// inside says where a path leads with all links followed, and whether that lies in the
// compose file's folder.
func (x *examined) inside(path string) (real string, ok bool, err error) {
	if real, err = filepath.EvalSymlinks(path); err != nil {
		return path, false, err
	}
	below, err := filepath.Rel(x.folder, real)
	return real, err == nil && filepath.IsLocal(below) && !everybodys(real), nil
}

// everybodys says that a folder is not a compose file's own, though it lies there: much in
// it is of others.
func everybodys(real string) bool {
	home, _ := os.UserHomeDir()
	for _, path := range []string{"/", "/tmp", "/var", "/var/tmp", "/run", "/etc", "/home", "/root", "/dev", "/dev/shm", os.TempDir(), home} {
		if whole, err := filepath.EvalSymlinks(path); path != "" && err == nil && real == whole {
			return true
		}
	}
	return false
}

// lineAt is the line of a place in a file, or of what is around it; 0: the file does
// not have it, as what it includes does.
func lineAt(n *yaml.Node, at place) int {
	line := 0
	for n != nil {
		if n.Kind == yaml.AliasNode {
			n = n.Alias
		}
		if n.Kind == yaml.DocumentNode && len(n.Content) > 0 {
			n = n.Content[0]
			continue
		}
		if len(at) == 0 {
			break
		}
		key, value := entry(n, at[0], 0)
		if key == nil {
			break
		}
		line, n, at = key.Line, value, at[1:]
	}
	return line
}

// entry finds a key of a mapping, its own or one that is merged into it.
func entry(n *yaml.Node, name string, depth int) (key, value *yaml.Node) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.MappingNode || depth > 20 {
		return nil, nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i], n.Content[i+1]
		}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == "<<" {
			if k, v := entry(n.Content[i+1], name, depth+1); k != nil {
				return k, v
			}
		}
	}
	return nil, nil
}

// text is a value as a person wrote it.
func text(value any) string {
	if value == nil {
		return ""
	}
	return strings.TrimSpace(fmt.Sprint(value))
}
