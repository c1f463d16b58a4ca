package diff

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// Whatever stands in the index of a matrix and in the results of its run, a comparison is
// an error or a table, and never a regression against itself.
func FuzzLoad(f *testing.F) {
	index := `{"dlmtest_index":1,"scenarios":["a"],"backends":["b"],"cells":[{"scenario":"a","backend":"b","verdict":"violated","runs":[` +
		`{"seed":7,"verdict":"violated","dir":"one","properties":[{"name":"mutual-exclusion","verdict":"violated"}]},{"seed":8,"verdict":"holds","error":"x"}]}]}`
	results := `{"verdict":"violated","properties":[{"name":"mutual-exclusion","verdict":"violated","reason":"r","violations":[{"number":1,"message":"m","operations":[0,99]}]}]}`
	f.Add([]byte(index), []byte(results), false)
	f.Add([]byte(index), []byte(results), true)
	f.Add([]byte(`{"cells":[{"runs":[{"dir":"../one"}]}]}`), []byte(`null`), true)
	f.Add([]byte(`null`), []byte(`{"properties":[{}]}`), true)
	f.Fuzz(func(t *testing.T, index, results []byte, latency bool) {
		dir := t.TempDir()
		for name, text := range map[string][]byte{"index.json": index, "one/results.json": results, "one/run.json": []byte(`{"dlmtest_run":1,"scenario":"a","backend":"b"}`),
			"one/history.jsonl": []byte(`{"dlmtest_history":1,"setup":{"promise":{"backend":"b"},"lease":1000000000,"keys":["k"],"clients":["c"],"expect":{}}}` + "\n")} {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for _, of := range []string{dir, filepath.Join(dir, "one")} {
			s, err := Load(context.Background(), of, latency, func(int, int) {})
			if err != nil {
				continue
			}
			r := Compare(s, s, 0.1)
			if r.State == Regression {
				t.Errorf("a regression against itself: %+v", r)
			}
			for _, err := range []error{Text(io.Discard, r, 100, true), Markdown(io.Discard, r), JSON(io.Discard, r)} {
				if err != nil {
					t.Error(err)
				}
			}
		}
	})
}
