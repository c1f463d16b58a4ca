package runner

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/bounded"
	"github.com/dlmtest/dlmtest/internal/visible"
	"github.com/dlmtest/dlmtest/internal/whole"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/figures"
	"github.com/dlmtest/dlmtest/reports/junit"
	"github.com/dlmtest/dlmtest/reports/pages"
)

// saveHistory writes the history in the order of time, then drops the file that
// was written as it came.
func saveHistory(dir string, setup history.Setup, ops []history.Op) error {
	err := Write(dir, historyFile, func(w io.Writer) error { return history.Encode(w, setup, ops) })
	if err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(dir, partFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// saveVerdict writes what a program reads of a judgement.
func saveVerdict(out *Outcome) (err error) {
	if out.Run.History == nil {
		if out.Run.History, err = historyFileOf(out.Dir); err != nil {
			return err
		}
	}
	return errors.Join(
		Write(out.Dir, runFile, func(w io.Writer) error { return writeJSON(w, out.Run) }),
		Write(out.Dir, resultsFile, func(w io.Writer) error { return writeJSON(w, results{out.Result, out.Figures}) }))
}

// save writes everything that a person or a program reads.
func save(out *Outcome) error {
	return errors.Join(saveVerdict(out),
		Write(out.Dir, junitFile, func(w io.Writer) error { return junit.Write(w, out.Run, out.Result) }),
		Write(out.Dir, reportFile, func(w io.Writer) error { return pages.HTML(w, out.Run, out.Setup, out.Ops, out.Result) }))
}

// results is results.json: the judgement, and the figures that docs/figures.md names.
type results struct {
	checker.Result
	Figures figures.Figures `json:"figures"`
}

// historyFileOf says how large the history is, and its digest.
func historyFileOf(dir string) (*reports.HistoryFile, error) {
	f, err := bounded.Open(filepath.Join(dir, historyFile))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sum := sha256.New()
	n, err := bounded.Copy(sum, f)
	return &reports.HistoryFile{Name: historyFile, Bytes: n, SHA256: hex.EncodeToString(sum.Sum(nil))}, err
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// Write makes a text file whole or not at all. What is hidden in the text is escaped.
func Write(dir, name string, render func(io.Writer) error) error {
	return whole.Write(dir, name, func(w io.Writer) error {
		text := visible.File(w)
		return errors.Join(render(text), text.Flush())
	})
}

// WriteBinary is Write for what is no text, such as a picture.
func WriteBinary(dir, name string, render func(io.Writer) error) error {
	return whole.Write(dir, name, render)
}
