package runner

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
)

// A record that was lost in the middle is no reason to judge nothing: the run is never
// green, the reason is told, and what was violated without that client still is.
func TestCheckOfAHole(t *testing.T) {
	for gone := range 8 {
		setup, ops := session()
		setup.Sources = setup.Clients
		here := map[string]int64{}
		for _, op := range ops {
			here[op.Node]++
		}
		for _, name := range setup.Sources {
			ops = append(ops, history.Op{Time: ops[len(ops)-1].Time, Node: name, Type: history.Note, F: history.End, Length: here[name]})
		}
		ops = append(ops[:gone:gone], ops[gone+1:]...)
		var text bytes.Buffer
		if err := history.Encode(&text, setup, ops); err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, HistoryFile), text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := Check(t.Context(), dir, checker.Oracle{})
		if err != nil {
			t.Errorf("without operation %d: %v", gone, err)
			continue
		}
		if out.Result.Verdict != checker.Unknown || !strings.Contains(strings.Join(out.Result.Doubts, " "), "some are missing") {
			t.Errorf("without operation %d: %s, %q", gone, out.Result.Verdict, out.Result.Doubts)
		}
	}
}
