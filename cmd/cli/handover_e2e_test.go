package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A lock whose handover takes longer than to think and to work is tested: its clients queue
// throughout, though nobody asks while another believes to hold it.
func TestSlowHandoverIsTested(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("testdata", "slow-*") // where the nodes' user may look
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"dlmtest_adapter.py", "redis_py.py"} {
		data, err := os.ReadFile(filepath.Join("..", "..", "examples", "adapters", name))
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Replace(string(data), "import redis\n", "import time\n\nimport redis\n", 1)
		text = strings.Replace(text, "thread_local=False)", "thread_local=False, sleep=0.003)", 1) // who waits comes before who gave it back
		text = strings.Replace(text, "        return lock\n", "        time.sleep(0.15)\n        return lock\n", 1)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f := runScenario(t, "--scenario", "baseline", "--backend", "redis", "--runtime", "local", "--clients", "5",
		"--adapter", "python3 /adapter/redis_py.py", "--adapter-files", dir)
	if f.verdict("mutual-exclusion") != "holds" || f.result.TooLittle || f.result.Counts.Contended*2 < f.result.Counts.Grants {
		t.Errorf("exit %d, mutual-exclusion %s, %d of %d contended, %q\n%s",
			f.code, f.verdict("mutual-exclusion"), f.result.Counts.Contended, f.result.Counts.Grants, f.result.Doubts, f.stderr)
	}
}
