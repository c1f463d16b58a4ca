package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/checker/formats"
	"github.com/dlmtest/dlmtest/checker/models"
	"github.com/dlmtest/dlmtest/internal/near"
)

// modelFlags say by which model a history is judged.
type modelFlags struct {
	name string
	models.Options
}

func (m *modelFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&m.name, "model", "", "judge by this model, see dlmtest list models")
	f.IntVar(&m.Permits, "permits", 1, "of --model semaphore and ownerless: how many may hold at once")
	f.DurationVar(&m.Lease, "lease", 0, "of --model lease: the lease of grants that name none")
	f.StringVar(&m.Init, "init", "", "of registers: what is there at first (default: nothing)")
	f.BoolVar(&m.Lenient, "lenient", false, "of registers: a failure and a read of nothing say nothing, as Knossos reads them")
	_ = cmd.RegisterFlagCompletionFunc("model", complete(modelNames()))
}

func modelNames() (names []string) {
	for _, m := range models.Models {
		names = append(names, m.Name)
	}
	return names
}

// check wants a model that there is, and numbers that mean something.
func (m *modelFlags) check(path string) error {
	if m.name == "" {
		return usageError{fmt.Errorf("%s is a file: --model says by which model it is judged%s", path, near.Hint("", modelNames()))}
	}
	if _, ok := models.Named(m.name); !ok {
		return usageError{unknown("model", m.name, near.Nearest(m.name, modelNames()), "dlmtest list models")}
	}
	if m.Permits < 1 || m.Lease < 0 {
		return usageError{fmt.Errorf("--permits %d --lease %v: want at least 1 and 0s", m.Permits, m.Lease)}
	}
	return nil
}

// checkFile judges one history by one model.
func checkFile(cmd *cobra.Command, path string, from *historyFlags, m *modelFlags, show *evidence, asJSON bool) error {
	if err := m.check(path); err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, "history.jsonl")
	}
	if m.name == "fenced-register" && !cmd.Flags().Changed("part") {
		from.part = formats.PartFenced
	}
	r, done, err := from.open(cmd, path)
	if err != nil {
		return err
	}
	defer done()
	if show.dir != "" && path == "-" {
		return usageError{errors.New("--evidence: standard input can be read only once; give a file")}
	}
	if show.Self != nil {
		m.Ask = models.Asker(cmd.Context(), show.Self)
	}
	begun := time.Now()
	judged, err := judgeFile(m.name, m.Options, r.Events())
	var read *formats.Error
	if err != nil && !errors.As(err, &read) { // of the decider, which knows no names of files
		err = fmt.Errorf("%s: %w", path, err)
	}
	if err != nil {
		return err
	}
	took := time.Since(begun)
	judged.File, judged.Format, judged.LeftOut = path, r.Format, r.Skipped
	if err := show.add(cmd, path, from, m, judged); err != nil {
		return err
	}
	if m.name == "mutex" && judged.Verdict == models.Violated && path != "-" {
		if judged.Readings, err = readAgain(cmd, path, from, m.Options, judged.Result); err != nil {
			return err
		}
	}
	if asJSON {
		return verdictError{judged.Verdict, json.NewEncoder(cmd.OutOrStdout()).Encode(judged)}
	}
	judged.text(cmd.OutOrStdout(), r.LeftOut(), took)
	return verdictError{judged.Verdict, nil}
}

// judged is what was found in a file.
type judged struct {
	File    string         `json:"file"`
	Format  string         `json:"format"`
	LeftOut map[string]int `json:"left_out,omitempty"`
	models.Result
	// Readings says what else the history is, where one model alone misleads.
	Readings string `json:"readings,omitempty"`
}

// looser are models under which a lock that fails as a strict mutex may still be
// what it promised to be.
var looser = []string{"lease", "lease-untimed"}

// judgeFile judges events by a model. An error says that they cannot be judged.
func judgeFile(name string, o models.Options, events iter.Seq2[models.Event, error]) (*judged, error) {
	m, ok := models.Named(name)
	if !ok {
		return nil, fmt.Errorf("no model %q", name)
	}
	decider := m.New(o)
	for e, err := range events {
		if err == nil {
			err = decider.Add(e)
		}
		if err != nil {
			return nil, err
		}
	}
	return &judged{Result: decider.End()}, nil
}

// readAgain says what a file that is no strict mutex is as a lock that may be
// lost; empty: there is no such reading. It reads the file once more, so that one
// that is a mutex need not be judged three times.
func readAgain(cmd *cobra.Command, path string, from *historyFlags, o models.Options, strict models.Result) (string, error) {
	for _, name := range looser {
		loose, err := readAs(cmd, path, from, name, o)
		if err != nil {
			return "", err
		}
		if loose != nil {
			return models.Readings(strict, loose), nil
		}
	}
	return "", nil
}

// readAs judges a file by a model; nil: it has no tokens, or no times, which mostly
// shows at its first grant.
func readAs(cmd *cobra.Command, path string, from *historyFlags, model string, o models.Options) (*models.Result, error) {
	r, done, err := from.open(cmd, path)
	if err != nil {
		return nil, err
	}
	defer done()
	m, _ := models.Named(model)
	d := m.New(o)
	for e, err := range r.Events() {
		if err != nil {
			return nil, err
		}
		if d.Add(e) != nil {
			return nil, nil
		}
	}
	result := d.End()
	return &result, nil
}

// shown is how many violations are told in text; --json has all.
const shown = 10

func (j *judged) text(w io.Writer, leftOut string, took time.Duration) {
	fmt.Fprintf(w, "%s: %s\n", j.File, strings.ToUpper(j.Verdict.String()))
	fmt.Fprintf(w, "  model     %s\n  format    %s\n", j.Model, j.Format)
	c := j.Counts
	fmt.Fprintf(w, "  read      %d events: %d operations ok, %d failed, %d unknown, keys %d, in %.3f s\n", c.Events, c.OK, c.Failed, c.Unknown, c.Keys, took.Seconds())
	if leftOut != "" {
		fmt.Fprintf(w, "  left out  %s\n", leftOut)
	}
	if j.Oracle != "" {
		fmt.Fprintf(w, "  Porcupine %s (the whole history)\n", j.Oracle)
	}
	if c.Passed > 0 {
		fmt.Fprintf(w, "  passed    over %d events of renewals, which do not matter to a %s\n", c.Passed, j.Model)
	}
	if j.Verdict != models.Violated {
		fmt.Fprintf(w, "  %s\n", j.Reason)
		return
	}
	if j.Readings != "" {
		fmt.Fprintf(w, "  %s\n", j.Readings)
	}
	for i, v := range j.Violations[:min(shown, len(j.Violations))] {
		var lines []string
		for _, at := range v.Events {
			lines = append(lines, fmt.Sprint(at.Line))
		}
		fmt.Fprintf(w, "  %d. %s Lines %s.\n", i+1, v.Message, strings.Join(lines, ", "))
		if v.Minimal != nil {
			fmt.Fprintf(w, "     %s\n", smallest(v.Minimal))
		}
	}
	if j.File != "-" {
		fmt.Fprintf(w, "  explain   dlmtest explain %s N --model %s\n", j.File, j.Model)
	}
	if more := j.Found - min(shown, len(j.Violations)); more > 0 {
		fmt.Fprintf(w, "  %d more, of which --json has up to 1000.\n", more)
	}
}

// smallest says which lines show a violation alone, and what Porcupine says of them.
func smallest(m *models.Minimal) string {
	if m.Why != "" {
		return "No smallest history: " + m.Why + "."
	}
	var lines []string
	for _, at := range m.Events {
		lines = append(lines, fmt.Sprint(at.Line))
	}
	text := "Shown by lines " + strings.Join(lines, ", ") + " alone"
	if m.Unfinished != "" {
		text += ", and perhaps by fewer, as " + m.Unfinished
	}
	if m.Oracle != "" {
		text += "; Porcupine: " + m.Oracle
	}
	if m.File != "" {
		text += "; " + m.File
	}
	if m.Drawing != "" {
		text += ", drawn in " + m.Drawing
	}
	return text + "."
}
