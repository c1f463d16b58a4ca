package cli

import (
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/checker/formats"
	"github.com/dlmtest/dlmtest/checker/models"
	"github.com/dlmtest/dlmtest/internal/whole"
	"github.com/dlmtest/dlmtest/runner"
)

// lookedAt is how many events a file may have to be read a second time for its
// evidence unasked: it must be kept in memory for that.
const lookedAt = 2 * models.OracleOps

// evidence finds the smallest histories of the first violations of a file, and
// puts them to Porcupine; with a folder they are saved there.
type evidence struct {
	dir string // "": nothing is saved
	checker.Oracle
}

// wanted says whether a file must be read again for it.
func (e *evidence) wanted(path string, j *judged) bool {
	if path == "-" {
		return false
	}
	return e.dir != "" && j.Verdict == models.Violated || j.Counts.Events <= lookedAt && (e.Full || j.Verdict == models.Violated)
}

// settle lets Porcupine decide what no sweep could.
func (e *evidence) settle(cmd *cobra.Command, path string, from *historyFlags, m *modelFlags, j *judged) error {
	if path == "-" || e.Self == nil || j.Verdict != models.Unknown || j.Counts.Events > lookedAt {
		return nil
	}
	events, err := readEvents(cmd, path, from, m)
	if err != nil {
		return err
	}
	model, _ := models.Named(m.name)
	models.Settle(model, m.Options, events, m.Ask, &j.Result)
	return nil
}

// add reads the events of a file again and adds what they show to the result.
func (e *evidence) add(cmd *cobra.Command, path string, from *historyFlags, m *modelFlags, j *judged) error {
	if j.Oracle == models.Decided { // by Porcupine alone, whose smallest history would be its own
		return nil
	}
	if e.Full && (path == "-" || j.Counts.Events > lookedAt) {
		j.Oracle = fmt.Sprintf("gave up: a history of at most %d events in a file can be put to it", lookedAt)
	}
	if !e.wanted(path, j) {
		return nil
	}
	events, err := readEvents(cmd, path, from, m)
	if err != nil {
		return err
	}
	model, _ := models.Named(m.name)
	if e.Full {
		models.Confirm(model, m.Options, events, models.Asker(cmd.Context(), e.Self), &j.Result)
	}
	mini := models.NewMinimizer(cmd.Context(), e.Self, model, m.Options, events)
	var ask func(string, models.Options, []models.Op) string
	if e.Self != nil {
		ask = models.Asker(cmd.Context(), e.Self)
	}
	for i := range j.Violations[:min(checker.MinimalKept, len(j.Violations))] {
		if err := e.one(cmd.Context(), mini, &j.Result, i, ask); err != nil {
			return err
		}
	}
	return nil
}

// one finds and saves the smallest history of violation i.
func (e *evidence) one(ctx context.Context, mini *models.Minimizer, r *models.Result, i int, ask func(string, models.Options, []models.Op) string) error {
	v := &r.Violations[i]
	minimal, events := mini.Minimal(*v, ask)
	v.Minimal = minimal
	if minimal.Oracle == models.Contradicted {
		r.Verdict, r.Reason = models.Unknown, "a bug of dlmtest: Porcupine contradicts violation "+fmt.Sprint(i+1)+": "+v.Message
	}
	if e.dir == "" || len(events) == 0 {
		return nil
	}
	if err := os.MkdirAll(e.dir, 0o755); err != nil {
		return err
	}
	name := fmt.Sprintf("%d.edn", i+1)
	minimal.File = filepath.Join(e.dir, name)
	err := whole.At(minimal.File, runner.Text(func(w io.Writer) error {
		return formats.WriteEDN(w, each(events), formats.Lines)
	}))
	if err != nil {
		return err
	}
	if minimal.Oracle != models.Confirmed {
		return nil
	}
	if page, err := mini.Draw(ctx, e.Self, events); err == nil { // else it is confirmed all the same
		name = fmt.Sprintf("%d.html", i+1)
		minimal.Drawing = filepath.Join(e.dir, name)
		return whole.At(minimal.Drawing, runner.Text(func(w io.Writer) error { _, err := io.WriteString(w, page); return err }))
	}
	return nil
}

// each yields events that are there.
func each(events []models.Event) iter.Seq2[models.Event, error] {
	return func(yield func(models.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// readEvents reads a whole history.
func readEvents(cmd *cobra.Command, path string, from *historyFlags, m *modelFlags) ([]models.Event, error) {
	r, done, err := from.open(cmd, path)
	if err != nil {
		return nil, err
	}
	defer done()
	m.begin(cmd, r.Format)
	var all []models.Event
	for e, err := range r.Events() {
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}
