package cli

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/checker/formats"
	"github.com/dlmtest/dlmtest/reports/text"
	"github.com/dlmtest/dlmtest/runner"
)

// isRunHistory says whether a path is a file in dlmtest's own format, which says
// itself by what it is judged. An error says that the file is of no format at all.
func isRunHistory(path string) (bool, error) {
	if info, err := os.Stat(path); path == "-" || err != nil || info.IsDir() {
		return false, nil // no file: whoever takes it for a folder says what is wrong
	}
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	format, err := formats.FormatOf(f)
	if err != nil {
		return false, fmt.Errorf("%s: %w", path, err)
	}
	return format == "dlmtest", nil
}

// checkHistory judges one history of dlmtest by the properties.
func checkHistory(cmd *cobra.Command, path string, asJSON bool) error {
	out, err := runner.JudgeFile(path)
	if err != nil {
		return err
	}
	if asJSON {
		err = json.NewEncoder(cmd.OutOrStdout()).Encode(map[string]any{"event": "result", "file": path, "result": out.Result})
	} else {
		out.Run.ID = path
		err = text.Write(styledOut(cmd), out.Run, out.Setup, out.Ops, out.Result, textOptions())
	}
	return verdictError{out.Result.Verdict, err}
}
