package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/reports/say"
	"github.com/dlmtest/dlmtest/reports/story"
	"github.com/dlmtest/dlmtest/reports/text"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/runner/matrix"
)

func newExplain() *cobra.Command {
	var asJSON bool
	var from historyFlags
	var model modelFlags
	cmd := &cobra.Command{
		Use:   "explain [DIR|FILE] [N]",
		Short: "Tell a violation of a saved run as a story, with the smallest history that shows it",
		Long: `Tell violation N of a run: how it came about, the operations that it names, and the
smallest history that still shows it, which stands in DIR/violations/N.jsonl. Without N,
list the violations, at most five of a property, and tell the first of those that are
certain. DIR defaults to runs/latest. Nothing is judged again; dlmtest check does that.

FILE is such a smallest history, or with --model any history of dlmtest list formats:
that is judged, and the violation told.`,
		Example: `  dlmtest explain
  dlmtest explain runs/latest 3
  dlmtest explain runs/latest 3 --json
  dlmtest explain store/latest/history.edn 1 --model mutex`,
		Args: cobra.MaximumNArgs(2),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 1 {
				return violationNumbers(args[0]), cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveDefault
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			path, n, err := explained(args)
			if err != nil {
				return err
			}
			found, err := explain(cmd, path, &from, &model)
			if err != nil {
				return err
			}
			return found.tell(cmd, path, n, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON instead of text")
	model.add(cmd)
	from.add(cmd)
	return cmd
}

// violationNumbers completes N: the message of each violation stands beside it.
func violationNumbers(dir string) (words []string) {
	out, err := runner.Open(dir)
	if err != nil {
		return nil
	}
	for _, a := range story.Accounts(out.Ops, out.Result) {
		words = append(words, fmt.Sprintf("%d\t%s: %s", a.Number, a.What, a.Message))
	}
	return words
}

// explained takes DIR and N; 0: all are listed. A number alone is of the latest run.
func explained(args []string) (path string, n int, err error) {
	path = filepath.Join("runs", "latest")
	if len(args) == 1 {
		if _, err := strconv.Atoi(args[0]); err == nil {
			args = []string{path, args[0]}
		}
	}
	if len(args) > 0 {
		path = args[0]
		if path != "-" {
			path = filepath.Clean(path)
		}
	}
	if len(args) > 1 {
		if n, err = strconv.Atoi(args[1]); err != nil || n < 1 {
			return "", 0, usageError{fmt.Errorf("violation %q: want its number, from 1; dlmtest explain %s lists them", args[1], path)}
		}
	}
	return path, n, nil
}

// explanation is what is known of a run or of a file.
type explanation struct {
	accounts []story.Account
	first    int // the number of the one that is told first
	tell1    func(a *story.Account)
	again    func(a *story.Account) string // the command that judges its minimal history
	unknown  string                        // why it is not decided, where a file is not
}

// explain finds the violations of a folder or of a file.
func explain(cmd *cobra.Command, path string, from *historyFlags, m *modelFlags) (*explanation, error) {
	info, err := os.Stat(path)
	switch {
	case m.name != "" || path == "-":
		return explainFile(cmd, path, from, m)
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("%w: %w; want the folder of a run, or a history", runner.ErrUsage, err)
	case err != nil:
		return nil, err
	case matrix.Is(path):
		return nil, usageError{fmt.Errorf("%s is the folder of a matrix: dlmtest explain takes one of the runs in it", path)}
	}
	var out *runner.Outcome
	if info.IsDir() {
		out, err = runner.Open(path)
	} else if own, wrong := isRunHistory(path); wrong != nil || !own {
		return nil, cmp.Or(wrong, m.check(path))
	} else {
		out, err = runner.JudgeFile(path)
	}
	if err != nil {
		return nil, err
	}
	return explainRun(cmd.Context(), path, out), nil
}

func explainRun(ctx context.Context, path string, out *runner.Outcome) *explanation {
	byNumber := map[int]checker.Violation{}
	for _, p := range out.Result.Properties {
		for _, v := range p.Violations {
			byNumber[v.Number] = v
		}
	}
	e := &explanation{accounts: story.Accounts(out.Ops, out.Result)}
	e.tell1 = func(a *story.Account) {
		v := byNumber[a.Number]
		if v.Minimal == nil || v.Minimal.Skipped { // beyond the first ones, or the budget
			v.Minimal = checker.FindMinimal(ctx, out.Setup, out.Ops, a.What, &v)
			a.Minimal = v.Minimal
			if out.Dir != "" {
				a.Notes = append(a.Notes, fmt.Sprintf("It was looked for now: only those of the first %d violations of "+
					"a property are saved, as far as the time for all of them goes.", checker.MinimalKept))
			}
		}
		a.Tell(out.Setup, out.Ops, v)
	}
	if _, v, ok := story.First(out.Result); ok {
		e.first = v.Number
	} else if len(e.accounts) > 0 {
		e.first = 1
	}
	e.again = func(a *story.Account) string {
		if a.Minimal == nil || a.Minimal.File == "" {
			return ""
		}
		return say.Shell([]string{"dlmtest", "check", filepath.Join(path, a.Minimal.File)}) // the folder names the file
	}
	return e
}

// tell prints one violation, or the list and the first.
func (e *explanation) tell(cmd *cobra.Command, path string, n int, asJSON bool) error {
	list := n == 0
	if list {
		n = e.first
	}
	if n > len(e.accounts) {
		return usageError{fmt.Errorf("violation %d: %s has %d; dlmtest explain %s lists them", n, path, len(e.accounts), path)}
	}
	if n > 0 {
		e.tell1(&e.accounts[n-1])
	}
	if asJSON {
		return e.json(cmd, n, list)
	}
	w, o := styledOut(cmd), textOptions()
	if e.unknown != "" && len(e.accounts) == 0 {
		_, err := fmt.Fprintf(w, "%s has no certain violation to explain. It is not decided: %s\n", path, e.unknown)
		return err
	}
	if len(e.accounts) == 0 {
		_, err := fmt.Fprintf(w, "%s has no violation, so there is nothing to explain.\n", path)
		return err
	}
	if list && len(e.accounts) > 1 {
		if err := text.List(w, e.accounts, o); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	a := &e.accounts[n-1]
	if a.Minimal != nil && a.Minimal.Drawing != "" {
		minimal := *a.Minimal
		minimal.Drawing = filepath.Join(path, minimal.Drawing)
		a.Minimal = &minimal
	}
	return text.Account(w, a, e.again(a), o)
}

func (e *explanation) json(cmd *cobra.Command, n int, list bool) error {
	to := json.NewEncoder(cmd.OutOrStdout())
	if list {
		return to.Encode(e.accounts)
	}
	return to.Encode(e.accounts[n-1])
}
