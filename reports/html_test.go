package reports

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
)

// pages are written to the folder that REPORTS_OUT names, to be looked at.
func TestWritePages(t *testing.T) {
	dir := os.Getenv("REPORTS_OUT")
	if dir == "" {
		t.Skip("set REPORTS_OUT to a folder to have sample pages written there")
	}
	doubtful := gcPause(true, 40)
	doubtful.res.Doubts = []string{"The host's clock moved by 12 ms against CLOCK_MONOTONIC_RAW during the run."}
	for name, r := range map[string]report{
		"redlock": gcPause(false, 40), "redis": gcPause(true, 40), "quiet": quiet(400), "doubtful": doubtful,
		"thousand": gcPause(true, 100), "large": gcPause(true, 11_500),
	} {
		began := time.Now()
		page := render(t, r)
		t.Logf("%s: %d history lines, %d bytes, %v", name, len(r.ops), len(page), time.Since(began))
		if err := os.WriteFile(filepath.Join(dir, name+".html"), page, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestHTMLIsSelfContained(t *testing.T) {
	r := gcPause(true, 14)
	r.run.Resolved, r.run.Logs = "", nil
	page := render(t, r)
	for _, bad := range []string{`https?://`, `["'(]//\w`, `@import`, `url\(`, `<link`, `<iframe`, `<img`, `\bsrc=`, `fetch\(`, `XMLHttpRequest`, `import\(`} {
		if m := regexp.MustCompile(bad).Find(page); m != nil {
			t.Errorf("the page holds %q, which may lead out of it", m)
		}
	}
}

func TestHTMLEscapes(t *testing.T) {
	plain := shape(t, render(t, gcPause(true, 14)))
	r, hostile := hostileRun()
	page := render(t, r)
	if got := shape(t, page); got != plain {
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
func hostileRun() (report, string) {
	const hostile = `</script><script>alert(hacked=1)</script><img src=x onerror="hacked=2">"'&` + "\u2028`${hacked=3}<!--\u202e"
	r := gcPause(true, 14)
	r.run.Title, r.run.About, r.run.Resolved, r.run.ID = hostile, hostile, hostile, hostile
	r.run.Command = append(r.run.Command, hostile)
	r.run.Options["fencing"] = hostile
	r.run.Logs[0] = "javascript:alert(hacked=4)"
	for i := range r.ops {
		op := &r.ops[i]
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
	r.setup.Clients[4], r.run.Nodes[4].Name = hostile, hostile
	r.res.Properties[0].Reason, r.res.Properties[0].Violations[0].Message = hostile, hostile
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
	r := gcPause(true, 14)
	want := drawn.FindSubmatch(render(t, r))
	for what, res := range map[string]checker.Result{
		"no verdict": {},
		"nonsense":   {Properties: []checker.Property{{Name: "x", Verdict: checker.Violated, Violations: []checker.Violation{{Number: 1, Operations: []int{-5, 1 << 40}, At: -1}}}}},
	} {
		r.res = res
		if got := drawn.FindSubmatch(render(t, r)); want == nil || got == nil || len(want[1]) < 100 || !bytes.Equal(got[1], want[1]) {
			t.Errorf("%s: the drawing changed", what)
		}
	}
}

func TestHTMLOfNothing(t *testing.T) {
	page := render(t, report{})
	if !bytes.Contains(page, []byte("there is no story to tell")) {
		t.Error("a run without a violation must say so")
	}
}

func TestHTMLSize(t *testing.T) {
	if testing.Short() {
		t.Skip("100,000 operations")
	}
	r := gcPause(true, 11_500)
	began := time.Now()
	page := render(t, r)
	t.Logf("%d lines of history: %.1f MB in %v", len(r.ops), float64(len(page))/1e6, time.Since(began))
	if len(r.ops) < 100_000 || len(page) > 1_500_000 { // 20 MB are for a million operations, of up to 11 lines in four
		t.Errorf("%d lines make %d bytes, want at most 1.5 MB at 100,000", len(r.ops), len(page))
	}
}

func render(t *testing.T, r report) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, r.run, r.setup, r.ops, r.res); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// shape is the elements of a page, without text and attribute values.
func shape(t *testing.T, page []byte) string {
	t.Helper()
	var b strings.Builder
	z := html.NewTokenizer(bytes.NewReader(page))
	for z.Next() != html.ErrorToken {
		if tok := z.Token(); tok.Type != html.TextToken {
			b.WriteString(tok.Type.String() + " " + tok.Data)
			for _, a := range tok.Attr {
				b.WriteString(" " + a.Key)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}
