package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/checker/formats"
	"github.com/dlmtest/dlmtest/checker/models"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/bounded"
	"github.com/dlmtest/dlmtest/internal/near"
	"github.com/dlmtest/dlmtest/runner"
)

// historyFlags say how a history that dlmtest did not record is read.
type historyFlags struct {
	format, independent, part string
	valueIs, values           string
	words, names, no          []string

	guessed bool // valueIs is one of several that are possible
	found   bool // a folder was named, and not the file in it
}

// within is the history that a folder stands for.
func (h *historyFlags) within(dir string) string {
	h.found = true
	return historyIn(dir)
}

func (h *historyFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&h.format, "format", "", "format of the file, see dlmtest list formats (default: detected)")
	f.StringVar(&h.independent, "independent", "", "whether values are [key value] tuples: yes or no (default: detected)")
	f.StringVar(&h.part, "part", formats.PartLock, "of a dlmtest history: lock, or fenced or unfenced for its guarded resource")
	f.StringArrayVar(&h.words, "f", nil, "what a word for an operation means, as WORD=OPERATION, or WORD=- to leave it out; may be repeated")
	f.StringVar(&h.valueIs, "value-is", "", "what the values of lock operations are: key, owner, token or answer "+
		"(default: where one of them alone is possible)")
	f.StringVar(&h.values, "values", "", "whether \"1\" and 1 are the same or apart (default: a file that has both is refused)")
	f.StringArrayVar(&h.names, "field", nil, "what a name in an operation stands for, as NAME=owner, token, key, lease, answer or mode, "+
		"or process, type, f, value or time, or "+
		"NAME=- to pass over it; may be repeated")
	f.StringArrayVar(&h.no, "no", nil, "an answer of a lock that means no, beside false; may be repeated")
	_ = cmd.RegisterFlagCompletionFunc("value-is", complete(formats.ValueRoles))
	_ = cmd.RegisterFlagCompletionFunc("values", complete([]string{formats.Same, formats.Apart}))
	_ = cmd.RegisterFlagCompletionFunc("format", complete(formatNames()))
	_ = cmd.RegisterFlagCompletionFunc("independent", complete([]string{"yes", "no"}))
	_ = cmd.RegisterFlagCompletionFunc("part", complete([]string{formats.PartLock, formats.PartFenced, formats.PartUnfenced}))
}

func formatNames() (names []string) {
	for _, f := range formats.Formats() {
		names = append(names, f.Name)
	}
	return names
}

// options checks the words of the flags.
func (h *historyFlags) options() (formats.Options, error) {
	o := formats.Options{Format: h.format, Independent: h.independent, Part: h.part, ValueIs: h.valueIs, Values: h.values, Meanings: map[string]models.F{}}
	if h.format != "" {
		if err := oneOf("format", h.format, formatNames()...); err != nil {
			return o, err
		}
	}
	if h.independent != "" {
		if err := oneOf("independent", h.independent, "yes", "no"); err != nil {
			return o, err
		}
	}
	if h.valueIs != "" {
		if err := oneOf("value-is", h.valueIs, formats.ValueRoles...); err != nil {
			return o, err
		}
	}
	if h.values != "" {
		if err := oneOf("values", h.values, formats.Same, formats.Apart); err != nil {
			return o, err
		}
	}
	if err := oneOf("part", h.part, formats.PartLock, formats.PartFenced, formats.PartUnfenced); err != nil {
		return o, err
	}
	var known []string
	for _, f := range formats.Ops() {
		known = append(known, string(f))
	}
	for _, pair := range h.words {
		word, f, ok := strings.Cut(pair, "=")
		if !ok || word == "" {
			return o, usageError{fmt.Errorf("--f %s: want WORD=OPERATION, such as lock-it=acquire", pair)}
		}
		if _, ok := formats.Names[models.F(f)]; !ok && f != "-" {
			return o, usageError{fmt.Errorf("--f %s: %s is no operation%s", pair, f, near.Hint(f, known))}
		}
		o.Meanings[word] = models.F(f)
	}
	o.No, o.Fields = h.no, map[string]string{}
	for _, pair := range h.names {
		name, role, ok := strings.Cut(strings.TrimPrefix(pair, ":"), "=")
		if !ok || name == "" {
			return o, usageError{fmt.Errorf("--field %s: want NAME=FIELD, such as holder=owner", pair)}
		}
		if err := oneOf("field "+name, role, formats.FieldRoles...); err != nil {
			return o, err
		}
		o.Fields[name] = role
	}
	return o, nil
}

// open opens a history; - is stdin. close must be called.
func (h *historyFlags) open(cmd *cobra.Command, path string) (r *formats.Reader, close func(), err error) {
	o, err := h.options()
	if err != nil {
		return nil, nil, err
	}
	in := cmd.InOrStdin()
	close = func() {}
	name := "standard input"
	if path != "-" {
		name = path
		file, err := h.openHistory(path)
		if errors.Is(err, os.ErrNotExist) && filepath.Base(path) == "history.jsonl" { // see historyIn
			return nil, nil, usageError{fmt.Errorf("no history in %s: want history.jsonl, %s or client-*/operations.json",
				filepath.Dir(path), strings.Join(storedNames, ", "))}
		} else if errors.Is(err, os.ErrNotExist) {
			return nil, nil, fmt.Errorf("%w: %w", runner.ErrUsage, err)
		} else if err != nil {
			return nil, nil, err
		}
		in, close = file, func() { file.Close() }
	}
	r, err = formats.Open(in, name, o)
	if err != nil {
		close()
		return nil, nil, err
	}
	return r, close, nil
}

// openHistory opens a file, or the files of a folder in which etcd's clients have theirs. What a user has
// named may be a pipe, which is waited for; what was found in a folder may not.
func (h *historyFlags) openHistory(path string) (io.ReadCloser, error) {
	info, err := os.Stat(path)
	switch {
	case h.found && (err != nil || !info.IsDir()):
		return bounded.Open(filepath.Dir(path), filepath.Base(path))
	case err != nil || !info.IsDir():
		return os.Open(path)
	}
	all := &several{}
	for _, name := range etcdFiles(path) {
		file, err := bounded.Open(path, name)
		if err != nil {
			return nil, errors.Join(err, all.Close())
		}
		all.files = append(all.files, file)
	}
	if len(all.files) == 0 {
		return os.Open(path) // says that it is a folder when it is read
	}
	var parts []io.Reader
	for _, file := range all.files {
		text, _, err := history.Unpack(file, 1)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", file.Name(), err), all.Close())
		}
		parts = append(parts, text)
	}
	all.Reader = io.MultiReader(parts...)
	return all, nil
}

// several files are read one after the other.
type several struct {
	io.Reader
	files []*os.File
}

// Close closes them all.
func (s *several) Close() (err error) {
	for _, file := range s.files {
		err = errors.Join(err, file.Close())
	}
	return err
}

// leftOut tells on stderr what of a history was not taken.
func leftOut(cmd *cobra.Command, path string, r *formats.Reader) {
	if text := r.LeftOut(); text != "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: left out %s\n", path, text)
	}
}
