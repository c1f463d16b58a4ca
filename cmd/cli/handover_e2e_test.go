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
	beside(t)
	dir := redisPyWith(t, "thread_local=False)", "thread_local=False, sleep=0.003)", // who waits comes before who gave it back
		"        return lock\n", "        time.sleep(0.15)\n        return lock\n")
	f := runScenario(t, "--scenario", "baseline", "--backend", "redis", "--runtime", "local", "--clients", "5",
		"--adapter", "python3 /adapter/redis_py.py", "--adapter-files", dir)
	if f.verdict("mutual-exclusion") != "holds" || f.result.TooLittle || f.result.Counts.Contended*2 < f.result.Counts.Grants {
		t.Errorf("exit %d, mutual-exclusion %s, %d of %d contended, %q\n%s",
			f.code, f.verdict("mutual-exclusion"), f.result.Counts.Contended, f.result.Counts.Grants, f.result.Doubts, f.stderr)
	}
}

// redisPyWith is a folder with the adapter of redis-py, in which each first text is replaced by the one after it.
func redisPyWith(t *testing.T, changes ...string) string {
	t.Helper()
	dir, err := os.MkdirTemp("testdata", "adapter-*") // where the nodes' user may look
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
		text := strings.Replace(string(data), "import redis\n", "import os, time\n\nimport redis\n", 1)
		text = strings.NewReplacer(changes...).Replace(text)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The adapter of the final acquire is the one that was judged, or nothing of the run is green.
func TestHelloThatChangesLater(t *testing.T) {
	beside(t)
	dir := redisPyWith(t, "serve(RedisPy())", `mark = "/tmp/began"
if os.path.exists(mark) and time.time() - os.path.getmtime(mark) > 3:
    RedisPy.library = "another"
open(mark, "a").close()
serve(RedisPy())`)
	f := runScenario(t, "--scenario", "baseline", "--backend", "redis", "--runtime", "local", "--clients", "2",
		"--adapter", "python3 /adapter/redis_py.py", "--adapter-files", dir)
	if f.code != exitInconclusive || !strings.Contains(strings.Join(f.result.Doubts, " "), "the final acquire was another lock's") {
		t.Errorf("exit %d, doubts %q\n%s", f.code, f.result.Doubts, f.stderr)
	}
}
