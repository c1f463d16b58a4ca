package runner

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/bounded"
	"github.com/dlmtest/dlmtest/internal/golden"
)

// The history says of each source that has ended how many records it made, with those that
// did not come; who has not ended stands in none. The run is no longer for it.
func TestEndsInTheHistory(t *testing.T) {
	setup := history.Setup{Lease: 1e9, Keys: []string{"k"}, Clients: []string{"client-1"}, Sources: []string{"client-1", "server-1", "resource"}}
	r, err := newRecorder(filepath.Join(t.TempDir(), partFile), setup)
	if err != nil {
		t.Fatal(err)
	}
	for i, node := range []string{"resource", "client-1", "resource"} {
		r.addOp(history.Op{Time: int64(10 + i), Node: node, Type: history.Note, F: history.Holder})
	}
	r.end(map[string]int{"resource": 3, "client-1": 0})
	ops, err := r.close()
	if err != nil {
		t.Fatal(err)
	}
	ends := map[string]int64{}
	for _, op := range ops {
		if op.F == history.End {
			ends[op.Node] = op.Length
		}
	}
	if len(ends) != 2 || ends["resource"] != 5 || ends["client-1"] != 1 || ops[len(ops)-1].Time != 12 {
		t.Errorf("%v, the last at %d", ends, ops[len(ops)-1].Time)
	}
	if err := history.Validate(setup, ops); err != nil {
		t.Error(err)
	}
}

// A history that is begun anew has nothing raw in it either.
func TestRestateShowsWhatIsHidden(t *testing.T) {
	path := filepath.Join(t.TempDir(), partFile)
	r, err := newRecorder(path, history.Setup{})
	if err != nil {
		t.Fatal(err)
	}
	r.note(history.Op{Error: "first\u202e"})
	if err := r.restate(history.Setup{}); err != nil {
		t.Fatal(err)
	}
	r.note(history.Op{Error: "second\u202e"})
	if _, err := r.close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(text), "\u202e") || strings.Count(string(text), `\u202e`) != 2 {
		t.Errorf("%v: %q", err, text)
	}
}

// Results without an end are refused by their size, and not read.
func TestResultsHaveAnEnd(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, resultsFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(mostOfResults+1), f.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := readResults(golden.Root(t, dir)); !errors.Is(err, bounded.ErrTooLarge) {
		t.Error(err)
	}
}
