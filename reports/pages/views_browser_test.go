package pages_test

import (
	"bytes"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/browser"
	"github.com/dlmtest/dlmtest/reports/pages"
	"github.com/dlmtest/dlmtest/reports/serve"
)

// look opens an address in a Chromium of its own.
func look(t testing.TB, url string) *browser.Tab {
	t.Helper()
	p := browser.Open(t, browser.Start(t), url)
	p.Visit("")
	return p
}

// realRun is a real run with its judgement.
func realRun(t testing.TB, name string) (reports.Run, history.Setup, []history.Op, checker.Result) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../testdata", "history-"+name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	setup, ops, err := history.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return reports.Run{Format: reports.Format, ID: name, Scenario: name}, setup, ops, checker.Judge(setup, ops)
}

func written(t testing.TB, name string, render func(*bytes.Buffer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := render(&b); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestComparisonInABrowser(t *testing.T) {
	t.Parallel() // it takes seconds, of which it waits for most
	c := pages.NewComparison(pages.AtFault)
	for _, name := range []string{"gc-pause-read-redis", "partition-majority-redlock"} {
		run, setup, ops, r := realRun(t, name)
		c.Add(run, setup, ops, r, "")
	}
	v := look(t, "file://"+written(t, "compare.html", func(b *bytes.Buffer) error { return c.HTML(b) }))
	browser.Is(v, `document.querySelectorAll(".charts svg").length >= 2`, true)
	const lines = `[...document.querySelector(".charts").querySelectorAll(".cross")].filter(e => e.getAttribute("visibility") === "visible").length`
	browser.Is(v, lines, 0)
	browser.Is(v, `(() => { const s = document.querySelector(".charts svg"); s.focus(); return document.activeElement === s; })()`, true)
	v.Do(chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight))
	browser.Is(v, lines+` === document.querySelector(".charts").querySelectorAll("svg").length`, true)
	browser.Is(v, `document.getElementById("read").textContent.startsWith("The line is at ")`, true)
	browser.Is(v, `new Set([...document.querySelector(".charts").querySelectorAll(".cross")].map(e => e.getAttribute("transform"))).size`, 1)
	// The first violation of a chart leads to its row.
	browser.Is(v, `(() => { const a = document.querySelector(".charts a"); a.dispatchEvent(new MouseEvent("click", { bubbles: true })); return !!document.querySelector("tr:target"); })()`, true)
	// Nothing sticks out of the window.
	browser.Is(v, `document.documentElement.scrollWidth <= window.innerWidth`, true)
	// On a phone, too, where it is not many screens taller than on a desk: 33,000 pixels is what it was.
	v.Do(chromedp.EmulateViewport(390, 800))
	v.Phone()
	browser.Is(v, `document.documentElement.scrollHeight < 20000`, true)
	browser.Is(v, `[...document.querySelectorAll(".contents a")].every(a => document.querySelector(a.getAttribute("href")))`, true)
	v.Quiet()
}

func TestIndexInABrowser(t *testing.T) {
	t.Parallel() // it takes seconds, of which it waits for most
	x := pages.Index{Format: pages.IndexFormat, Ended: true, Count: 1, Scenarios: []string{"a", "b", "c"}, Backends: []string{"x", "y"}}
	for i, s := range x.Scenarios {
		for k, b := range x.Backends {
			c := pages.Cell{Scenario: s, Backend: b, Runs: []pages.CellRun{{Seed: 1, Verdict: reports.Good, Dir: s + b}}}
			if i == 1 && k == 1 {
				c.Runs[0].Verdict = reports.Violates
			}
			c.Settle()
			x.Cells = append(x.Cells, c)
		}
	}
	v := look(t, "file://"+written(t, "index.html", func(b *bytes.Buffer) error { return pages.IndexHTML(b, x) }))
	const rows = `[...document.querySelectorAll("#matrix tbody tr")].filter(r => !r.hidden).map(r => r.cells[0].textContent).join(" ")`
	const cells = `[...document.querySelectorAll("#matrix td:not(.out) a")].filter(a => a.offsetParent).length`
	browser.Is(v, rows, "a b c")
	browser.Is(v, `document.querySelector('[data-show="violated"]').click()`, chromedp.Void{})
	browser.Is(v, rows, "b")
	browser.Is(v, cells, 1)
	browser.Is(v, `document.querySelector('[data-show="violated"]').getAttribute("aria-pressed")`, "true")
	browser.Is(v, `document.querySelector('[data-show="violated"]').click()`, chromedp.Void{}) // again: all
	browser.Is(v, rows, "a b c")
	browser.Is(v, cells, 6)
	// From cell to cell by keys, and no further than the table.
	browser.Is(v, `document.querySelector("#matrix td a").focus()`, chromedp.Void{})
	for _, key := range []string{kb.ArrowDown, kb.ArrowRight, kb.ArrowRight} {
		v.Do(chromedp.KeyEvent(key))
	}
	browser.Is(v, `document.activeElement.getAttribute("href")`, "./by/report.html")
	// Heads stay where they are while the table scrolls.
	browser.Is(v, `getComputedStyle(document.querySelector("#matrix thead th")).position`, "sticky")
	v.Quiet()
}

// Through the server a report works, reaches nothing, and a log stays text.
func TestServedReportInABrowser(t *testing.T) {
	t.Parallel() // it takes seconds, of which it waits for most
	run, setup, ops, r := realRun(t, "gc-pause-read-redis")
	report := written(t, "report.html", func(b *bytes.Buffer) error { return pages.HTML(b, run, setup, ops, r) })
	dir := filepath.Dir(report)
	if err := os.MkdirAll(filepath.Join(dir, "logs"), 0o755); err != nil {
		t.Fatal(err)
	}
	evil := `<html><script>document.title = "run"</script>`
	if err := os.WriteFile(filepath.Join(dir, "logs", "report.html"), []byte(evil), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := serve.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	at := httptest.NewServer(s)
	defer at.Close()

	b := browser.Start(t)
	visit := func(path string) *browser.Tab {
		p := browser.Open(t, b, at.URL+path)
		p.Visit("")
		return p
	}
	v := visit("/report.html")
	browser.Is(v, `new Promise(done => { const look = n => document.documentElement.dataset.ready || !n ? done(n > 0) : setTimeout(look, 20, n - 1); look(1000) })`, true)
	browser.Is(v, `document.getElementById("timeline").width > 300`, true) // its script has drawn
	browser.Is(v, `self.origin`, "null")
	v.Quiet()
	browser.Is(v, `fetch("/").then(() => "read", () => "refused")`, "refused")

	v = visit("/logs/report.html")
	browser.Is(v, `document.contentType`, "text/plain")
	browser.Is(v, `document.title`, "")

	v = visit("/")
	browser.Is(v, `[...document.links].some(a => a.href.endsWith("/report.html"))`, true)
	browser.Is(v, `document.documentElement.scrollWidth <= window.innerWidth`, true)
	v.Quiet()
}
