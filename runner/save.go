package runner

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"

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
func saveHistory(in *os.Root, setup history.Setup, ops []history.Op) error {
	err := Write(in, HistoryFile, func(w io.Writer) error { return history.Encode(w, setup, ops) })
	if err != nil {
		return err
	}
	if err := in.Remove(partFile); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// saveVerdict writes what a program reads of a judgement.
func saveVerdict(in *os.Root, out *Outcome) (err error) {
	if out.Run.History == nil {
		if out.Run.History, err = historyFileOf(in); err != nil {
			return err
		}
	}
	return errors.Join(
		Write(in, runFile, func(w io.Writer) error { return writeJSON(w, out.Run) }),
		Write(in, resultsFile, func(w io.Writer) error { return writeJSON(w, results{out.Result, out.Figures}) }))
}

// save writes everything that a person or a program reads.
func save(in *os.Root, out *Outcome) error {
	return errors.Join(saveVerdict(in, out),
		Write(in, junitFile, func(w io.Writer) error { return junit.Write(w, out.Run, out.Result) }),
		Write(in, reportFile, func(w io.Writer) error { return pages.HTML(w, out.Run, out.Setup, out.Ops, out.Result) }))
}

// results is results.json: the judgement, and the figures that docs/figures.md names.
type results struct {
	checker.Result
	Figures figures.Figures `json:"figures"`
}

// historyFileOf says how large the history is, and its digest.
func historyFileOf(in *os.Root) (*reports.HistoryFile, error) {
	f, err := bounded.OpenIn(in, HistoryFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sum := sha256.New()
	n, err := bounded.Copy(sum, f)
	return &reports.HistoryFile{Name: HistoryFile, Bytes: n, SHA256: hex.EncodeToString(sum.Sum(nil))}, err
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// Write makes a text file of a folder whole or not at all, and nowhere else: see whole.Write. What is hidden in the text
// is escaped.
func Write(in *os.Root, name string, render func(io.Writer) error) error {
	return whole.Write(in, name, Text(render))
}

// Text has what is hidden in a text escaped as it is written.
func Text(render func(io.Writer) error) func(io.Writer) error {
	return func(w io.Writer) error {
		text := visible.File(w)
		return errors.Join(render(text), text.Flush())
	}
}
