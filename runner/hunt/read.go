package hunt

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/internal/bounded"
	"github.com/dlmtest/dlmtest/runner/matrix"
)

// mostOfAReport is many times what the longest hunt writes, and mostOfTrials what as many trials do as mostTrials are: those
// of some days. A trial of two bytes takes 500 in memory, so the bytes of the file alone do not bound what it unfolds to.
const (
	mostOfAReport = 64 << 20
	mostOfTrials  = 128 << 20
	mostTrials    = 1 << 16
	mostFeatures  = 4 << 20 // of all trials together
)

// Is says whether a folder is a hunt's.
func Is(dir string) bool {
	in, err := os.OpenRoot(dir)
	if err != nil {
		return false
	}
	defer func() { _ = in.Close() }() // it was read
	_, err = bounded.ReadIn(in, ReportFile, mostOfAReport)
	return err == nil
}

// Read reads the report of an earlier hunt.
func Read(dir string) (*Report, error) {
	in, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }() // it was read
	return readIn(in)
}

func readIn(in *os.Root) (*Report, error) {
	data, err := bounded.ReadIn(in, ReportFile, mostOfAReport)
	if err != nil {
		return nil, err
	}
	return Decode(filepath.Join(in.Name(), ReportFile), data)
}

// Decode reads the hunt.json of a name, strictly: what is unknown or missing in it, or cannot be, is an
// error that names the field.
func Decode(name string, data []byte) (*Report, error) {
	if format := bounded.Format(data, "format"); format > Format {
		return nil, fmt.Errorf("%s: written by a newer dlmtest (format %d, this one knows %d); update dlmtest", name, format, Format)
	}
	r := &Report{}
	if err := bounded.JSON(name, data, r); err != nil {
		return nil, err
	}
	var plain any
	if err := json.Unmarshal(data, &plain); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if field := absent(plain, reflect.TypeFor[Report]()); field != "" {
		return nil, fmt.Errorf("%s: field %s is missing: another dlmtest may have written it, or somebody by hand", name, field)
	}
	if err := r.short(name); err != nil {
		return nil, err
	}
	if err := r.plausible(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	r.coverage = map[Cover]Cover{}
	for _, c := range r.Coverage {
		r.coverage[Cover{Fault: c.Fault, Trigger: c.Trigger}] = c
	}
	return r, nil
}

// absent names the first field that a value of ours has not, though each has it; "": none.
func absent(value any, of reflect.Type) string {
	switch of.Kind() {
	case reflect.Pointer:
		return absent(value, of.Elem())
	case reflect.Slice:
		all, _ := value.([]any)
		for i, v := range all {
			if field := absent(v, of.Elem()); field != "" {
				return fmt.Sprintf("%d/%s", i, field)
			}
		}
	case reflect.Struct:
		fields, ok := value.(map[string]any)
		for i := range of.NumField() {
			name, options, tagged := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			if !ok || name == "" || !of.Field(i).IsExported() {
				continue
			}
			v, here := fields[name]
			if !here && !(tagged && options == "omitempty") {
				return name
			}
			if field := absent(v, of.Field(i).Type); field != "" {
				return name + "/" + field
			}
		}
	}
	return ""
}

// short refuses lists that nobody reads to their end.
func (r *Report) short(name string) (err error) {
	list := func(field string, n int) { err = cmp.Or(err, bounded.List(name, field, n)) }
	list("command", len(r.Command))
	list("settings", len(r.Settings))
	list("merged", len(r.Merged))
	list("messages", len(r.Messages))
	list("dismissed", len(r.Left))
	list("coverage", len(r.Coverage))
	list("findings", len(r.Findings))
	for i, f := range r.Findings {
		if f != nil {
			list(fmt.Sprintf("findings/%d/command", i), len(f.Command))
			list(fmt.Sprintf("findings/%d/story", i), len(f.Story))
		}
	}
	return err
}

// plausible refuses what no hunt writes. The paths lead to what is shown, copied and removed.
func (r *Report) plausible() error {
	if r.Format != Format {
		return fmt.Errorf("format %d: want %d", r.Format, Format)
	}
	for field, n := range map[string]int{"trials": r.Trials, "runs": r.Runs, "failed": r.Failed, "disturbed": r.Disturbed, "shared": r.Shared,
		"features": r.Features, "next": r.Next - 1, "seconds": int(min(r.Seconds, 1))} {
		if n < 0 {
			return fmt.Errorf("%s is too small", field)
		}
	}
	if r.Shard != "" {
		if _, err := matrix.ParseShard(r.Shard); err != nil {
			return fmt.Errorf("shard: %w", err)
		}
	}
	for i, f := range r.Findings {
		switch {
		case f == nil:
			return fmt.Errorf("findings/%d is nothing", i)
		case f.Property == "" || f.Cause == "":
			return fmt.Errorf("findings/%d has no property or cause", i)
		case f.Found < 0 || f.Found > f.Of || f.ReferenceFound < 0 || f.ReferenceFound > f.ReferenceOf:
			return fmt.Errorf("findings/%d: found in %d of %d, at the reference lock in %d of %d", i, f.Found, f.Of, f.ReferenceFound, f.ReferenceOf)
		case filepath.Base(f.Scenario) != f.Scenario || filepath.Ext(f.Scenario) != ".yaml":
			return fmt.Errorf("findings/%d/scenario: %q is no file of this folder", i, f.Scenario)
		case f.Run != "" && (!filepath.IsLocal(f.Run) || filepath.Clean(f.Run) == "."):
			return fmt.Errorf("findings/%d/run: %q is not below this folder", i, f.Run)
		}
	}
	decisions := []Decision{Open, Worse, Shared, Passing, Excused, Allowed, Accepted, Late}
	for i, d := range r.Left {
		if d == nil || !slices.Contains(decisions, d.Decision) {
			return fmt.Errorf("dismissed/%d/decision is none of %v", i, decisions)
		}
	}
	return nil
}
