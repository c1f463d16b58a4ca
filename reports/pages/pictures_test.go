package pages

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/dlmtest/dlmtest/reports/browser"
)

// TestPictures draws what docs/reading-a-report.md shows, from the reports of real
// runs: make docs-pictures.
func TestPictures(t *testing.T) {
	dir, from := os.Getenv("PICTURES"), os.Getenv("REPORTS")
	if dir == "" || from == "" {
		t.Skip("make docs-pictures sets PICTURES and REPORTS")
	}
	b := browser.Start(t)
	redlock := browser.Open(t, b, "file://"+filepath.Join(from, "sample", "report.html"))
	redlock.Do(chromedp.EmulateViewport(1020, 900))
	redlock.Visit("")
	redlock.Do(browser.Whole)
	keep(redlock, dir, "report-answers", "section.answers")
	keep(redlock, dir, "report-words", "section.prose")
	keep(redlock, dir, "report-story", "#story")
	redlock.Click(`[data-do="fit"]`)
	keep(redlock, dir, "report-run", "figure:has(#timeline)")
	redlock.Click(`[data-do="story"]`)
	browser.Eval[chromedp.Void](redlock, `{ const all = [...document.querySelectorAll("#story .zombie a")]; all[all.length - 1].click(); }`)
	keep(redlock, dir, "report-step", "figure:has(#timeline)")

	etcd := browser.Open(t, b, "file://"+filepath.Join(from, "samples", "etcd-report", "report.html"))
	etcd.Do(chromedp.EmulateViewport(1020, 900))
	etcd.Visit("")
	etcd.Do(browser.Whole)
	keep(etcd, dir, "report-fenced", "#story")
}

// keep keeps one part of a page.
func keep(p *browser.Tab, dir, name, css string) {
	p.Helper()
	p.View()
	png, err := chromedp.Run(p.Ctx, chromedp.Screenshot(chromedp.CSS(css)))
	if err != nil {
		p.Fatal(err)
	}
	p.Logf("%s: %d kB", name, len(png)/1000)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		p.Fatal(err)
	}
}
