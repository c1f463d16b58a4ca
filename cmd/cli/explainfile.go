package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/checker/formats"
	"github.com/dlmtest/dlmtest/checker/models"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/reports/story"
	"github.com/dlmtest/dlmtest/runner"
)

// explainFile judges one history by one model and tells what was found.
func explainFile(cmd *cobra.Command, path string, from *historyFlags, m *modelFlags) (*explanation, error) {
	if err := m.check(path); err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = from.within(path)
	} else if path != "-" && errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", runner.ErrUsage, err)
	}
	if m.name == "fenced-register" && !cmd.Flags().Changed("part") {
		from.part = formats.PartFenced
	}
	events, err := readEvents(cmd, path, from, m)
	if err != nil {
		return nil, err
	}
	oracle := []string{self(), "oracle"}
	m.Ask = models.Asker(cmd.Context(), oracle)
	found, err := judgeFile(m.name, m.Options, each(events))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	found.heirs.Doubt(&found.Result)
	unknown := ""
	if found.Verdict == models.Unknown {
		unknown = found.Reason
	}
	model, _ := models.Named(m.name)
	mini := models.NewMinimizer(cmd.Context(), oracle, model, m.Options, events)
	return &explanation{
		accounts: fileAccounts(model, found), first: min(1, len(found.Violations)), unknown: unknown,
		tell1: func(a *story.Account) {
			v := found.Violations[a.Number-1]
			minimal, part := mini.Minimal(v, m.Ask)
			a.Minimal, a.Oracle = &checker.Minimal{Why: minimal.Why}, minimal.Oracle
			tellEvents(a, v, minimal.Events, part, events)
			if found.Readings != "" {
				a.Notes = append(a.Notes, found.Readings)
			}
			if m.name == "try" || m.name == "ownerless" {
				a.Notes = append(a.Notes, "That nobody else held it, or gave it back, is seen in the whole history only.")
			}
		},
		again: func(*story.Account) string { return "" },
	}, nil
}

func fileAccounts(m models.Model, found *judged) []story.Account {
	var all []story.Account
	for i, v := range found.Violations {
		last := v.Events[len(v.Events)-1]
		all = append(all, story.Account{Number: i + 1, Of: found.Found, What: m.Name, About: m.About, Sure: "certain", At: last.String(), Message: v.Message})
	}
	return all
}

// tellEvents adds the events of the smallest history, or those that are named.
func tellEvents(a *story.Account, v models.Violation, left []models.Ref, part, events []models.Event) {
	named := map[int]bool{}
	for _, ref := range v.Events {
		named[ref.Index] = true
	}
	if len(left) == 0 {
		for _, ref := range v.Events {
			if ref.Index < len(events) {
				left, part = append(left, ref), append(part, events[ref.Index])
			}
		}
	}
	for i, ref := range left {
		e := &part[i]
		at := ""
		if e.Time != 0 && len(events) > 0 {
			at = fmt.Sprintf("%.3f s", float64(e.Time-events[0].Time)/1e9)
		}
		a.Lines = append(a.Lines, story.Line{Index: max(ref.Line, 0), At: at, Who: eventOf(e), What: says(e), Named: named[ref.Index]})
	}
}

func eventOf(e *models.Event) string {
	if e.Owner != "" {
		return e.Owner
	}
	return fmt.Sprintf("process %d", e.Process)
}

// asks are what a call of each operation means, in words.
var asks = map[models.F]string{
	models.Acquire: "asks for the lock", models.AcquireR: "asks for the lock, to read", models.Try: "tries to take the lock",
	models.Release: "gives the lock back", models.ReleaseR: "gives the lock back, as a reader",
	models.Read: "reads", models.Write: "writes", models.Append: "appends", models.CAS: "compares and sets", models.Request: "asks etcd",
}

// says tells one event in plain words.
func says(e *models.Event) string {
	word := asks[e.F]
	if e.Key != "" {
		word += fmt.Sprintf(" of %q", e.Key)
	}
	switch {
	case e.F == models.CAS:
		word += fmt.Sprintf(" %s to %s", orNothing(e.Old), orNothing(e.Value))
	case e.F == models.Write, e.F == models.Append, e.F == models.Read && e.Type == history.OK:
		word += " " + orNothing(e.Value)
	}
	switch e.Type {
	case history.Invoke:
		word += "."
	case history.OK:
		word += ": ok"
	case history.Fail:
		word += ": refused"
	default:
		word += ": outcome unknown"
	}
	if e.Token != 0 {
		word = strings.TrimSuffix(word, ".") + fmt.Sprintf(", token %d", e.Token)
	}
	if e.Lease != 0 {
		word += fmt.Sprintf(", lease %.3f s", float64(e.Lease)/1e9)
	}
	if !strings.HasSuffix(word, ".") {
		word += "."
	}
	return word
}

func orNothing(value string) string {
	if value == "" {
		return "nothing"
	}
	return value
}
