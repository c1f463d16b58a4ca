package runner

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/reports/junit"
	"github.com/dlmtest/dlmtest/reports/pages"
	"github.com/dlmtest/dlmtest/reports/picture"
	"github.com/dlmtest/dlmtest/reports/story"
	"github.com/dlmtest/dlmtest/reports/text"
)

// Whatever stands in results.json and run.json, the folder of a run is an error or a run
// that can be told in every form: they need not fit the history beside them.
func FuzzOpen(f *testing.F) {
	setup, ops := session()
	var lines bytes.Buffer
	if err := history.Encode(&lines, setup, ops); err != nil {
		f.Fatal(err)
	}
	run := `{"dlmtest_run":1,"id":"x","scenario":"a","backend":"redis","took":1,"versions":[{"node":"n","version":"v"}],"history":{"name":"history.jsonl","bytes":1}}`
	for _, results := range []string{
		`{"verdict":"violated","properties":[{"name":"mutual-exclusion","verdict":"violated","reason":"r","violations":[{"number":1,"message":"m","operations":[0,1,9999,-1],"at":-5,"minimal":{"file":"violations/1.jsonl","operations":[-1,3]}}]}],"doubts":["d"]}`,
		`{"verdict":"holds"}`, `null`, `{"properties":[{"name":"fairness","violations":[{"number":1}]}]}`, `{"verdict":"n/a","counts":{"grants":-1}}`,
	} {
		f.Add([]byte(results), []byte(run))
	}
	f.Fuzz(func(t *testing.T, results, run []byte) {
		dir := t.TempDir()
		for name, data := range map[string][]byte{HistoryFile: lines.Bytes(), resultsFile: results, runFile: run} {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		out, err := Open(dir)
		if err != nil {
			return
		}
		for _, a := range story.Accounts(out.Ops, out.Result) {
			_ = text.Account(io.Discard, &a, "", text.Options{})
		}
		name, v, _ := story.First(out.Result)
		for form, err := range map[string]error{
			"text": text.Write(io.Discard, out.Run, out.Setup, out.Ops, out.Result, text.Options{Color: true}),
			"md":   text.Markdown(io.Discard, out.Run, out.Setup, out.Ops, out.Result),
			"json": text.JSON(io.Discard, out.Run, out.Setup, out.Ops, out.Result),
			"xml":  junit.Write(io.Discard, out.Run, out.Result),
			"html": pages.HTML(io.Discard, out.Run, out.Setup, out.Ops, out.Result),
			"svg":  picture.New(out.Run, out.Setup, out.Ops, name, v).SVG(io.Discard),
		} {
			if err != nil {
				t.Errorf("%s: %v", form, err)
			}
		}
		if out.Result.Verdict == checker.Holds && len(out.Result.Properties) > 0 && out.Run.History != nil && out.Run.History.SHA256 == "" {
			t.Error("another history than was judged, and no doubt")
		}
	})
}
