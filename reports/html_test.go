package reports

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/dlmtest/dlmtest/checker"
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
	const hostile = `</script><script>alert(1)</script><img src=x onerror=alert(2)>"'&` + "\u2028`${1}"
	r := gcPause(true, 14)
	plain := shape(t, render(t, r))
	r.run.Title, r.run.About, r.run.Resolved, r.run.ID = hostile, hostile, hostile, hostile
	r.run.Command = append(r.run.Command, hostile)
	r.run.Options["fencing"] = hostile
	r.run.Logs[0] = "javascript:alert(1)"
	for i := range r.ops {
		if r.ops[i].Key != "" {
			r.ops[i].Key = hostile
		}
		if r.ops[i].Node == "client-5" {
			r.ops[i].Node = hostile
		}
		if r.ops[i].Fault != nil {
			r.ops[i].Fault.Proof = hostile
		}
	}
	r.setup.Clients[4], r.run.Nodes[4].Name = hostile, hostile
	r.res.Properties[0].Reason, r.res.Properties[0].Violations[0].Message = hostile, hostile
	page := render(t, r)
	if got := shape(t, page); got != plain {
		t.Errorf("hostile text changed the elements of the page:\n%s\nwant\n%s", got, plain)
	}
	if bytes.Contains(page, []byte(`href="javascript:`)) {
		t.Error("a log's path became a script")
	}
	if !strings.Contains(payload(t, page).Get("strings"), hostile) {
		t.Error("hostile text is not in the data as it was")
	}
}

func TestHTMLDrawingDoesNotDependOnTheVerdict(t *testing.T) {
	r := gcPause(true, 14)
	t1 := newTrace(r.setup, r.ops).draw(r.run)
	r.res = checker.Result{}
	if render(t, r) == nil {
		t.Fatal("no page without a verdict")
	}
	t2 := newTrace(r.setup, r.ops).draw(r.run)
	a, _ := json.Marshal(t1.drawing)
	b, _ := json.Marshal(t2.drawing)
	if !bytes.Equal(a, b) {
		t.Error("the drawing changed with the verdict")
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
	if len(r.ops) < 100_000 || len(page) > 15_000_000 {
		t.Errorf("%d lines make %d bytes, want at most 15 MB at 100,000", len(r.ops), len(page))
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

type decoded map[string]json.RawMessage

// Get is the text of a list of strings in the data of a page.
func (d decoded) Get(name string) string {
	var all []string
	_ = json.Unmarshal(d[name], &all)
	return strings.Join(all, "\n")
}

// payload reads the data of a page back.
func payload(t *testing.T, page []byte) decoded {
	t.Helper()
	const open = `<script type="application/json" id="data">`
	_, rest, _ := bytes.Cut(page, []byte(open))
	text, _, ok := bytes.Cut(rest, []byte("</script>"))
	d := decoded{}
	if err := json.Unmarshal(text, &d); err != nil || !ok {
		t.Fatalf("the data does not parse: %v", err)
	}
	return d
}
