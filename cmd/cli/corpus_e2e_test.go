package cli

import (
	"encoding/json"
	"os/exec"
	"testing"

	"github.com/dlmtest/dlmtest/runner/corpus"
)

// TestCorpus builds one library in two versions and finds its bug in the first alone.
func TestCorpus(t *testing.T) {
	beside(t)
	if testing.Short() {
		t.Skip("builds two versions of a library and runs a cluster for each")
	}
	out, err := exec.Command(dlmtest(t), "corpus", "redsync-always-true", "--json", "--runtime", "local", "--out", t.TempDir()).Output()
	var tracks []corpus.Track
	if e := json.Unmarshal(out, &tracks); e != nil || len(tracks) != 1 {
		t.Fatalf("%v %v: %s", err, e, out)
	}
	if got := tracks[0]; err != nil || !got.Met() || got.Affected.Found != 1 || got.Control.Held != 1 {
		t.Errorf("%v: %+v", err, got)
	}
}
