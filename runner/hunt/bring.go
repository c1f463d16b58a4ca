package hunt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/internal/bounded"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/runner/matrix"
)

// bring brings what the findings of a part lead to into the folder of the whole. A run that is not there,
// or that does not show the violation, is told.
func bring(m matrix.Merging, p part, r *Report, into *os.Root) error {
	from, err := os.OpenRoot(p.dir) // no link leads out of it
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }() // it was read
	to, err := m.Room(p.name, p.dir, into)
	if err != nil {
		return err
	}
	defer func() { _ = to.Close() }() // all that was written is closed
	for _, f := range r.Findings {
		if f.from != p.name {
			continue
		}
		for _, file := range []string{f.Scenario, f.picture()} {
			if err := copyFile(from, file, into); err != nil && (file == f.Scenario || !errors.Is(err, fs.ErrNotExist)) {
				return err
			}
		}
		for i, word := range f.Command {
			if filepath.Base(word) == f.Scenario {
				f.Command[i] = filepath.Join(m.Out, f.Scenario)
			}
		}
		if err := bringRun(m, from, f, to); err != nil {
			return err
		}
		if f.Run != "" {
			f.Run = filepath.Join(p.name, f.Run)
		}
	}
	return nil
}

// bringRun brings the run that shows a finding.
func bringRun(m matrix.Merging, from *os.Root, f *Finding, to *os.Root) error {
	if info, err := from.Stat(f.Run); f.Run == "" || err != nil || !info.IsDir() {
		f.Run, f.Note = "", strings.TrimPrefix(f.Note+"; the run that shows it is missing", "; ")
		return nil
	}
	data, err := bounded.ReadIn(from, filepath.Join(f.Run, "results.json"), mostOfAReport)
	if err == nil {
		result, wrong := runner.DecodeResults(filepath.Join(f.Run, "results.json"), data)
		if p := result.Property(f.Property); wrong != nil || p == nil || p.Verdict != checker.Violated {
			err = errors.Join(wrong, fmt.Errorf("%s does not show it", f.Run))
		}
	}
	if err != nil {
		f.Note = strings.TrimPrefix(f.Note+"; not believed: "+err.Error(), "; ")
	}
	if m.Link {
		return nil
	}
	return matrix.CopyFolder(from, f.Run, to)
}

// copyFile copies a plain file into a folder.
func copyFile(from *os.Root, name string, into *os.Root) error {
	data, err := bounded.ReadIn(from, name, mostOfAPicture)
	if err != nil {
		return err
	}
	return into.WriteFile(name, data, 0o644)
}
