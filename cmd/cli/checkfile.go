package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
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
	f.StringVar(&m.Init, "init", "", "of registers: the initial value (default: empty)")
	f.BoolVar(&m.Lenient, "lenient", false, "of registers: ignore failed operations and reads of the empty value, as Knossos does")
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

// begin says what a register begins with, where its format does and the user does not.
func (m *modelFlags) begin(cmd *cobra.Command, format string) {
	if format == "fptlin" && !cmd.Flags().Changed("init") {
		m.Init = "0"
	}
}

// checkFile judges one history by one model.
func checkFile(cmd *cobra.Command, path string, from *historyFlags, m *modelFlags, show *evidence, asJSON bool) error {
	begun := time.Now()
	judged, leftOut, err := judgeOne(cmd, path, from, m, show)
	if err != nil {
		return err
	}
	if asJSON {
		return verdictError{judged.Verdict, json.NewEncoder(cmd.OutOrStdout()).Encode(judged)}
	}
	if said, by := sourceVerdict(judged.File); said != "" {
		fmt.Fprintf(cmd.OutOrStdout(), "%s: %s by its own %s\n", judged.File, said, by)
	}
	judged.text(cmd.OutOrStdout(), leftOut, cmp.Or(judged.took, time.Since(begun)))
	return verdictError{judged.Verdict, nil}
}

// judgeOne judges one history by one model. Where its values may be read in several
// ways, it is judged by each: one verdict of all is the verdict.
func judgeOne(cmd *cobra.Command, path string, from *historyFlags, m *modelFlags, show *evidence) (*judged, string, error) {
	j, leftOut, err := judgePath(cmd, path, from, m, show)
	var several *formats.Ambiguous
	if !errors.As(err, &several) || path == "-" {
		return j, leftOut, err
	}
	said, same := []string{}, true
	var first *judged
	for _, choice := range several.Choices {
		one, again := *from, *m
		one.valueIs, one.guessed = choice, true
		j, out, wrong := judgePath(cmd, path, &one, &again, show)
		if wrong != nil {
			said, same = append(said, choice+": "+wrong.Error()), false
			continue
		}
		if first == nil {
			first, leftOut = j, out
		}
		same = same && j.Verdict == first.Verdict
		said = append(said, choice+": "+strings.ToUpper(j.Verdict.String()))
	}
	if !same || first == nil {
		return nil, "", fmt.Errorf("%w (%s)", err, strings.Join(said, "; "))
	}
	first.Readings = strings.Join([]string{"whatever the values are: " + strings.Join(said, "; "), first.Readings}, ". ")
	return first, leftOut, nil
}

// judgePath judges one history by one model, in one way to read it.
func judgePath(cmd *cobra.Command, path string, from *historyFlags, m *modelFlags, show *evidence) (*judged, string, error) {
	if err := m.check(path); err != nil {
		return nil, "", err
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = from.within(path)
	}
	if m.name == "fenced-register" && !cmd.Flags().Changed("part") {
		from.part = formats.PartFenced
	}
	r, done, err := from.open(cmd, path)
	if err != nil {
		return nil, "", err
	}
	defer done()
	m.begin(cmd, r.Format)
	if show.dir != "" && path == "-" {
		return nil, "", usageError{errors.New("--evidence: standard input can be read only once; give a file")}
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
	if err == nil && r.MayHave > 0 && m.name != models.Claims {
		err = fmt.Errorf("%s: %d operations failed that may have had an effect, as this format means it: only --model claims can judge that", path, r.MayHave)
	}
	if err != nil {
		return nil, "", err
	}
	if err := doubtful(cmd, path, from, m, r, judged.Result); err != nil {
		return nil, "", err
	}
	judged.took = time.Since(begun)
	judged.File, judged.Format, judged.LeftOut = path, r.Format, r.Skipped
	if err := show.settle(cmd, path, from, m, judged); err != nil {
		return nil, "", err
	}
	judged.heirs.Doubt(&judged.Result)
	if err := show.add(cmd, path, from, m, judged); err != nil {
		return nil, "", err
	}
	if judged.Verdict == models.Violated && path != "-" {
		if judged.Readings, err = readAgain(cmd, path, from, m, judged.Result); err != nil {
			return nil, "", err
		}
		if how := inWhat(m, judged.Result); how != "" {
			judged.Readings = strings.TrimSpace(how + " " + judged.Readings)
		}
	}
	return judged, r.LeftOut(), nil
}

// judged is what was found in a file.
type judged struct {
	File    string         `json:"file"`
	Format  string         `json:"format"`
	LeftOut map[string]int `json:"left_out,omitempty"`
	models.Result
	// Readings says what else the history is, where one model alone misleads.
	Readings string `json:"readings,omitempty"`
	took     time.Duration
	heirs    *models.Heirs
}

// looser are models under which a lock that fails as a strict mutex may still be
// what it promised to be: the first of them that can judge it is asked.
var looser = []string{"lease", "lease-untimed"}

// judgeFile judges events by a model. An error says that they cannot be judged.
func judgeFile(name string, o models.Options, events iter.Seq2[models.Event, error]) (*judged, error) {
	m, ok := models.Named(name)
	if !ok {
		return nil, fmt.Errorf("no model %q", name)
	}
	decider, heirs := m.New(o), models.NewHeirs()
	for e, err := range events {
		if err == nil {
			heirs.Add(&e)
			err = decider.Add(e)
		}
		if err != nil {
			return nil, err
		}
	}
	return &judged{Result: decider.End(), heirs: heirs}, nil
}

// readAgain says what a file that is no strict mutex is as a lock that may be lost, and
// what a register is as Knossos reads it; empty: there is no such reading. It reads the
// file once more, so that one that is a mutex need not be judged several times.
func readAgain(cmd *cobra.Command, path string, from *historyFlags, m *modelFlags, strict models.Result) (string, error) {
	switch m.name {
	case "register", "cas-register", "kv":
		if m.Lenient {
			return "", nil
		}
		o := m.Options
		o.Lenient = true
		read, err := readAs(cmd, path, from, o, m.name)
		lenient := read[m.name]
		if err != nil || lenient == nil || lenient.Verdict == strict.Verdict {
			return "", err
		}
		return models.RegisterReadings(strict, *lenient, o.Init), nil
	case "mutex":
		read, err := readAs(cmd, path, from, m.Options, append([]string{models.Claims, "ownerless"}, looser...)...)
		if err != nil {
			return "", err
		}
		loose := read[looser[0]]
		if loose == nil || loose.Verdict == models.Unknown {
			loose = read[looser[1]]
		}
		if loose == nil {
			return "", nil
		}
		text := models.Readings(strict, loose, read[models.Claims])
		if anybody := read["ownerless"]; anybody != nil && anybody.Verdict == models.Holds {
			text = strings.TrimSuffix(text, ".") + ". As Knossos's mutex, which knows no owners and which anybody may give back (ownerless): valid."
		}
		return text, nil
	}
	return "", nil
}

// readAs reads a file once and judges it by several models. One that is not in the answer could not: the file has no
// tokens, or no times, which mostly shows at its first grant.
func readAs(cmd *cobra.Command, path string, from *historyFlags, o models.Options, names ...string) (map[string]*models.Result, error) {
	r, done, err := from.open(cmd, path)
	if err != nil {
		return nil, err
	}
	defer done()
	deciders := map[string]models.Decider{}
	for _, name := range names {
		m, _ := models.Named(name)
		deciders[name] = m.New(o)
	}
	for e, err := range r.Events() {
		if err != nil {
			return nil, err
		}
		for name, d := range deciders {
			if d.Add(e) != nil {
				delete(deciders, name)
			}
		}
	}
	read := map[string]*models.Result{}
	for name, d := range deciders {
		result := d.End()
		read[name] = &result
	}
	return read, nil
}
