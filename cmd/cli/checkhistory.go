package cli

import (
	"encoding/json"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/checker/formats"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/runner"
)

// isRunHistory says whether a path is a file in dlmtest's own format, which says
// itself by what it is judged.
func isRunHistory(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	first := make([]byte, 4096)
	n, err := io.ReadFull(f, first)
	if err != nil && err != io.ErrUnexpectedEOF {
		return false // a folder, or nothing in it
	}
	format, err := formats.Detect(first[:n])
	return err == nil && format == "dlmtest"
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
		err = reports.Text(styledOut(cmd), out.Run, out.Setup, out.Ops, out.Result, textOptions())
	}
	return verdictError{out.Result.Verdict, err}
}
