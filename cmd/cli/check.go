package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/reports/pages"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/runner/matrix"
)

const checkLong = `Judge the history of a saved run again and write its results and report anew.
The folder of a run that was killed can be judged too. In the folder of a matrix all
runs are judged, and its index is written anew.

A single history of dlmtest, such as runs/latest/violations/1.jsonl, is judged by the
properties; nothing is written then.

With --model, judge one history by one model, such as mutex or cas-register (dlmtest
list models). FILE may be of any format of dlmtest list formats, or - for standard
input; of a folder it is its history.jsonl. Nothing is written then, unless --evidence
names a folder for the smallest histories that show the first violations.

Porcupine is a second judge with limited time and memory, in a child process: --oracle
windows asks it about these smallest histories, full about the whole history too, and off about
nothing, which leaves registers undecided. Where it gives up, the verdict stands and the
output says so.`

func newCheck() *cobra.Command {
	var asJSON bool
	var oracle, junit string
	var from historyFlags
	var model modelFlags
	var show evidence
	cmd := &cobra.Command{
		Use:   "check DIR|FILE...",
		Short: "Judge a saved run again, or a history that dlmtest did not record",
		Long:  checkLong,
		Example: `  dlmtest check runs/latest
  dlmtest check runs/latest-matrix
  dlmtest check runs/latest/violations/1.jsonl
  dlmtest check runs/latest --model lease
  dlmtest check store/latest/history.edn --model mutex --evidence found
  dlmtest check c10-bad.txt --model kv
  dlmtest check store/*/history.edn --model mutex --junit junit.xml
  zcat ops.json.gz | dlmtest check - --model cas-register --init 0 --json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("oracle", oracle, oracles...); err != nil {
				return err
			}
			show.Full = oracle == "full"
			if oracle != "off" {
				show.Self = []string{self(), "oracle"}
			}
			if len(args) > 1 || junit != "" {
				return checkTable(cmd, args, &from, &model, &show, junit, asJSON)
			}
			return checkOne(cmd, filepath.Clean(args[0]), &from, &model, &show, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON instead of text")
	oracleFlag(cmd, &oracle)
	cmd.Flags().StringVar(&show.dir, "evidence", "", "with --model: `folder` for the smallest histories of the first violations")
	cmd.Flags().StringVar(&junit, "junit", "", "with --model: write the verdict of each history to this `file`, as JUnit XML")
	model.add(cmd)
	from.add(cmd)
	return cmd
}

// checkOne judges what one path names: a run, a matrix, or a history of whoever recorded it.
func checkOne(cmd *cobra.Command, path string, from *historyFlags, model *modelFlags, show *evidence, asJSON bool) error {
	info, err := os.Stat(path)
	if model.name == "" {
		if own, wrong := isRunHistory(path); wrong != nil {
			return wrong
		} else if own {
			return checkHistory(cmd, path, asJSON)
		}
	}
	if isStore(path) && model.name == "" {
		return usageError{fmt.Errorf("%s is a folder of another suite: --model says by which model its history is judged", path)}
	}
	if model.name != "" || path == "-" || err == nil && !info.IsDir() {
		return checkFile(cmd, path, from, model, show, asJSON)
	}
	if show.dir != "" {
		return usageError{errors.New("--evidence goes with --model; a run keeps its evidence in its own folder")}
	}
	if matrix.Is(path) {
		return checkMatrix(cmd, path, show.Oracle, asJSON)
	}
	out, err := runner.Check(cmd.Context(), path, show.Oracle, sayVerdict)
	if out == nil {
		return err
	}
	return verdictError{out.Result.Verdict, errors.Join(err, tell(out, asJSON))}
}

// checkTable judges several histories, or one for JUnit, by one model.
func checkTable(cmd *cobra.Command, paths []string, from *historyFlags, model *modelFlags, show *evidence, junit string, asJSON bool) error {
	if model.name == "" {
		return usageError{errors.New("several histories, and --junit, go with --model; a run has its junit.xml in its own folder")}
	}
	rows, err := checkMany(cmd, paths, from, model, show)
	if err != nil {
		return err
	}
	if junit != "" {
		err = writeTo(cmd, junit, func(w io.Writer) error { return historyJUnit(w, model.name, rows) })
	}
	if asJSON {
		for i := range rows {
			if rows[i].judged != nil {
				err = errors.Join(err, json.NewEncoder(cmd.OutOrStdout()).Encode(rows[i].judged))
			}
		}
	} else {
		err = errors.Join(err, historyTable(cmd.OutOrStdout(), rows))
	}
	return errors.Join(err, worst(rows))
}

// checkMatrix judges all runs of a matrix again.
func checkMatrix(cmd *cobra.Command, dir string, oracle checker.Oracle, asJSON bool) error {
	x, err := matrix.Check(cmd.Context(), dir, oracle, func(c pages.Cell, r pages.CellRun) {
		if !asJSON {
			fmt.Fprintln(cmd.OutOrStdout(), runLine(dir, c, r, false))
		}
	})
	if len(x.Cells) == 0 || cmd.Context().Err() != nil {
		return err
	}
	tellMatrix(cmd.OutOrStdout(), dir, x, asJSON)
	return matrixError(x, err)
}

// sayVerdict tells of a verdict while its evidence is looked for, which may take a while.
func sayVerdict(out *runner.Outcome) {
	if len(out.Result.Found()) > 0 {
		fmt.Fprintln(stderr, out.Verdict()+"; looking for the smallest histories that show it")
	}
}

// oracles are what --oracle can be.
var oracles = []string{"windows", "full", "off"}

func oracleFlag(cmd *cobra.Command, oracle *string) {
	cmd.Flags().StringVar(oracle, "oracle", "windows",
		"what Porcupine is asked: windows (the smallest history of each violation), full (whole histories too), off")
	_ = cmd.RegisterFlagCompletionFunc("oracle", complete(oracles))
}
