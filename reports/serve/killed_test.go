package serve

import (
	"path/filepath"
	"testing"

	"github.com/dlmtest/dlmtest/internal/scratch"
)

// A run and a matrix that were killed are told from those that go on, and from those
// that ended by themselves.
func TestListOfKilled(t *testing.T) {
	dir := t.TempDir()
	const index = `{"dlmtest_index":1,"scenarios":["a"],"backends":["b"],"cells":[{"scenario":"a","backend":"b","verdict":"waiting","runs":[{"seed":1,"verdict":"waiting"}]}]`
	for name, text := range map[string]string{
		"going/run.json": `{"dlmtest_run":1,"state":"running"}`, "killed/run.json": `{"dlmtest_run":1,"state":"running"}`,
		"judged/run.json": `{"dlmtest_run":1,"state":"killed"}`, "judged/results.json": `{"verdict":"unknown"}`,
		"old/run.json": `{"dlmtest_run":1}`, "old/results.json": `{"verdict":"holds"}`,
		"matrix/index.json": index + `}`, "going-matrix/index.json": index + `}`, "ended-matrix/index.json": index + `,"ended":true}`,
	} {
		write(t, filepath.Join(dir, name), text)
	}
	defer scratch.Hold(filepath.Join(dir, "going"))()
	defer scratch.Hold(filepath.Join(dir, "going-matrix"))()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for name, want := range map[string]string{
		"going": goesOn + "|", "killed": killed + ", " + notJudged + "|", "judged": "inconclusive|the run " + killed, "old": "holds|",
		"matrix": "waiting|" + killed + "; 1 cell: 1 waiting", "going-matrix": goesOn + "|1 cell: 1 waiting", "ended-matrix": "waiting|1 cell: 1 waiting",
	} {
		if e := s.listedAs(name); e.Says+"|"+e.More != want {
			t.Errorf("%s: %s|%s, want %s", name, e.Says, e.More, want)
		}
	}
}
