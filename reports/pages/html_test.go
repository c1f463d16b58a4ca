package pages

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/reports/sample"
)

// pages are written to the folder that REPORTS_OUT names, to be looked at.
func TestWritePages(t *testing.T) {
	dir := os.Getenv("REPORTS_OUT")
	if dir == "" {
		t.Skip("set REPORTS_OUT to a folder to have sample pages written there")
	}
	doubtful := sample.GCPause(true, 40)
	doubtful.Result.Doubts = []string{"The host's clock moved by 12 ms against CLOCK_MONOTONIC_RAW during the run."}
	for name, r := range map[string]sample.Report{
		"redlock": sample.GCPause(false, 40), "redis": sample.GCPause(true, 40), "quiet": sample.Quiet(400), "doubtful": doubtful,
		"thousand": sample.GCPause(true, 100), "large": sample.GCPause(true, 11_500),
	} {
		began := time.Now()
		page := render(t, r)
		t.Logf("%s: %d history lines, %d bytes, %v", name, len(r.Ops), len(page), time.Since(began))
		if err := os.WriteFile(filepath.Join(dir, name+".html"), page, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestHTMLIsSelfContained(t *testing.T) {
	r := sample.GCPause(true, 14)
	r.Run.Resolved, r.Run.Logs = "", nil
	page := render(t, r)
	for _, bad := range []string{`https?://`, `["'(]//\w`, `@import`, `url\(`, `<link`, `<iframe`, `<img`, `\bsrc=`, `fetch\(`, `XMLHttpRequest`, `import\(`} {
		if m := regexp.MustCompile(bad).Find(page); m != nil {
			t.Errorf("the page holds %q, which may lead out of it", m)
		}
	}
}

func TestHTMLEscapes(t *testing.T) {
	plain := sample.Shape(t, render(t, sample.GCPause(true, 14)))
	r, hostile := hostileRun()
	page := render(t, r)
	if got := sample.Shape(t, page); got != plain {
		t.Errorf("hostile text changed the elements of the page:\n%s\nwant\n%s", got, plain)
	}
	if bytes.ContainsRune(page, '\u202e') {
		t.Error("hostile text turns the words after it around")
	}
	if bytes.Contains(page, []byte(`href="javascript:`)) {
		t.Error("a log's path became a script")
	}
	_, texts := unpacked(t, page)
	if !slices.Contains(texts, hostile) {
		t.Error("hostile text is not in the data as it was")
	}
}

// hostileRun has text that would be HTML or a script wherever a run has text.
func hostileRun() (sample.Report, string) {
	const hostile = `</script><script>alert(hacked=1)</script><img src=x onerror="hacked=2">"'&` + "\u2028`${hacked=3}<!--\u202e"
	r := sample.GCPause(true, 14)
	r.Run.Title, r.Run.About, r.Run.Resolved, r.Run.ID = hostile, hostile, hostile, hostile
	r.Run.Command = append(r.Run.Command, hostile)
	r.Run.Options["fencing"] = hostile
	r.Run.Logs[0] = "javascript:alert(hacked=4)"
	for i := range r.Ops {
		op := &r.Ops[i]
		for _, s := range []*string{&op.Key, &op.Error} {
			if *s != "" {
				*s = hostile
			}
		}
		if op.Node == "client-5" {
			op.Node = hostile
		}
		if op.Owner != "" {
			op.Owner += hostile
		}
		if op.Value != "" {
			op.Value += hostile
		}
		op.Unfenced, op.Fenced = worse(op.Unfenced, hostile), worse(op.Fenced, hostile)
		if op.Fault != nil {
			f := *op.Fault
			f.Proof, f.Target = hostile, strings.Replace(f.Target, "client-5", hostile, 1)
			op.Fault = &f
		}
	}
	r.Setup.Clients[4], r.Run.Nodes[4].Name = hostile, hostile
	r.Result.Properties[0].Reason, r.Result.Properties[0].Violations[0].Message = hostile, hostile
	return r, hostile
}

func worse(c *history.Copy, hostile string) *history.Copy {
	if c == nil {
		return nil
	}
	w := *c
	for _, s := range []*string{&w.Value, &w.Base, &w.Previous} {
		if *s != "" {
			*s += hostile
		}
	}
	return &w
}

// A page draws the same without a verdict, and of a judge that said nonsense.
func TestHTMLDrawingDoesNotDependOnTheVerdict(t *testing.T) {
	drawn := regexp.MustCompile(`id="drawn">([^<]*)<`)
	r := sample.GCPause(true, 14)
	want := drawn.FindSubmatch(render(t, r))
	for what, res := range map[string]checker.Result{
		"no verdict": {},
		"nonsense":   {Properties: []checker.Property{{Name: "x", Verdict: checker.Violated, Violations: []checker.Violation{{Number: 1, Operations: []int{-5, 1 << 40}, At: -1}}}}},
	} {
		r.Result = res
		if got := drawn.FindSubmatch(render(t, r)); want == nil || got == nil || len(want[1]) < 100 || !bytes.Equal(got[1], want[1]) {
			t.Errorf("%s: the drawing changed", what)
		}
	}
}

func TestHTMLOfNothing(t *testing.T) {
	page := render(t, sample.Report{})
	if !bytes.Contains(page, []byte("there is no story to tell")) {
		t.Error("a run without a violation must say so")
	}
}

func TestHTMLSize(t *testing.T) {
	if testing.Short() {
		t.Skip("100,000 operations")
	}
	r := sample.GCPause(true, 11_500)
	began := time.Now()
	page := render(t, r)
	t.Logf("%d lines of history: %.1f MB in %v", len(r.Ops), float64(len(page))/1e6, time.Since(began))
	if len(r.Ops) < 100_000 || len(page) > 1_500_000 { // 20 MB are for a million operations, of up to 11 lines in four
		t.Errorf("%d lines make %d bytes, want at most 1.5 MB at 100,000", len(r.Ops), len(page))
	}
}

func render(t *testing.T, r sample.Report) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, r.Run, r.Setup, r.Ops, r.Result); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
