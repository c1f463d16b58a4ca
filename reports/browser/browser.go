// Package browser is for tests: it opens pages in a real headless Chromium, and knows
// what they said on the console and what they asked for.
package browser

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/dlmtest/dlmtest/internal/scratch"
)

// Start starts a headless Chromium; without one the test is skipped.
func Start(t testing.TB) context.Context {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil && path == "" {
			path = p
		}
	}
	if path == "" {
		t.Skip("no Chromium on PATH: make test-deps installs it")
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WindowSize(1280, 900),
		chromedp.Env("TMPDIR="+leftovers(t)))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), opts...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start %s: %v", path, err)
	}
	return ctx
}

// leftovers is a folder for what a Chromium that is killed forgets. It may still write
// there while the folder goes, which is no failure of a test, as it were in t.TempDir.
func leftovers(t testing.TB) string {
	t.Helper()
	dir, err := scratch.New("chromium")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Remove() })
	return dir.Path
}

// Tab is one page in the browser, and what it said and asked for.
type Tab struct {
	testing.TB
	Ctx  context.Context
	url  string
	mu   sync.Mutex
	said []string // on the console
	sent []string // requests
}

// Show opens a page and waits until it has read all its data.
func Show(t testing.TB, browser context.Context, page []byte, hash string) *Tab {
	t.Helper()
	p := Open(t, browser, File(t, page))
	p.Visit(hash)
	p.Do(Whole)
	return p
}

// File writes a page to a folder of the test, and returns its address.
func File(t testing.TB, page []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, page, 0o644); err != nil {
		t.Fatal(err)
	}
	return "file://" + file
}

// Whole waits until the report of a run has read all its data.
var Whole = chromedp.Poll[chromedp.Void](`document.documentElement.dataset.whole`)

// Open makes a tab for an address, which Visit then opens.
func Open(t testing.TB, browser context.Context, url string) *Tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	p := &Tab{TB: t, Ctx: ctx, url: url}
	p.Do()
	p.Ctx, cancel = context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(cancel)
	if _, err := chromedp.Call(p.Ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	p.Media("screen", "light")
	err := chromedp.Listen(p.Ctx, func(ev any) {
		if e, ok := ev.(*network.EventRequestWillBeSent); ok {
			p.mu.Lock()
			p.sent = append(p.sent, e.Request.URL)
			p.mu.Unlock()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for m, err := range chromedp.Console(p.Ctx) {
			if err != nil {
				return
			}
			p.mu.Lock()
			p.said = append(p.said, m.String())
			p.mu.Unlock()
		}
	}()
	return p
}

// Visit opens the page at a place in it, such as #violation-2; "" is its begin.
func (p *Tab) Visit(hash string) {
	p.Helper()
	p.Do(chromedp.Navigate(p.url + hash))
}

// Do does what must not fail.
func (p *Tab) Do(steps ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	if err := chromedp.Do(p.Ctx, steps...); err != nil {
		p.Fatal(err)
	}
}

// To scrolls to an element.
func (p *Tab) To(id string) {
	p.Helper()
	Eval[chromedp.Void](p, `document.getElementById("`+id+`").scrollIntoView()`)
}

// Click clicks the first element that a selector finds.
func (p *Tab) Click(css string) { p.Helper(); p.Do(chromedp.Click(chromedp.CSS(css))) }

// Drag takes what lies at a place along to another.
func (p *Tab) Drag(x, y, to float64) {
	p.Helper()
	left := chromedp.ButtonLeft
	p.Do(chromedp.MouseEvent(chromedp.MouseMoved, x, y), chromedp.MouseEvent(chromedp.MousePressed, x, y, left),
		chromedp.MouseEvent(chromedp.MouseMoved, (x+to)/2, y, left),
		chromedp.MouseEvent(chromedp.MouseMoved, to, y, left), chromedp.MouseEvent(chromedp.MouseReleased, to, y, left))
}

// Press types keys.
func (p *Tab) Press(keys string) { p.Helper(); p.Do(chromedp.KeyEvent(keys)) }

// Eval is the value of an expression; a promise is waited for.
func Eval[T any](p *Tab, js string) T {
	p.Helper()
	v, err := chromedp.Run(p.Ctx, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
	if err != nil {
		p.Fatalf("%s: %v", js, err)
	}
	return v
}

// Is wants the value of an expression.
func Is[T comparable](p *Tab, js string, want T) {
	p.Helper()
	if got := Eval[T](p, js); got != want {
		p.Errorf("%s is %v, want %v", js, got, want)
	}
}

// Phone wants what a phone shows to be read from top to bottom: no table goes sideways, and no column is so narrow that
// its words are broken.
func (p *Tab) Phone() {
	p.Helper()
	Is(p, `[...document.querySelectorAll("table")]
		.filter(t => t.offsetParent && t.closest(".figures, details") === null && t.scrollWidth > innerWidth).map(t => t.className).join()`, "")
	Is(p, `[...document.querySelectorAll(".story td, .properties td, .listed td, .side td, .side th[scope=row]")]
		.filter(c => c.offsetParent && c.textContent.trim().length > 12 && c.clientWidth < 60).map(c => c.className + ": " + c.textContent).join()`, "")
}

// Until waits for an expression to be true.
func (p *Tab) Until(js string) {
	p.Helper()
	if _, err := chromedp.Run(p.Ctx, chromedp.Poll[chromedp.Void](js, chromedp.WithPollingTimeout(10*time.Second))); err != nil {
		p.Fatalf("never came true: %s (%v); the page says %q", js, err, Eval[string](p, `document.getElementById("say")?.textContent ?? document.title`))
	}
}

// View is the stretch of the timeline that is shown, µs, once it is drawn.
func (p *Tab) View() [2]int64 {
	p.Helper()
	return Eval[[2]int64](p, `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => {
		const d = document.getElementById("timeline").dataset; done([+d.from, +d.to]); })))`)
}

// Quiet fails if the page complained, or asked for anything but itself.
func (p *Tab) Quiet() {
	p.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.said {
		p.Errorf("the console says: %s", s)
	}
	for _, url := range p.sent {
		if url != p.url {
			p.Errorf("the page asked for %.200s", url)
		}
	}
	if len(p.sent) == 0 {
		p.Error("not even the page itself was seen as a request")
	}
}

// Media sets what the reader's system wants: light or dark, screen or paper.
func (p *Tab) Media(medium, scheme string) {
	p.Helper()
	_, err := chromedp.Call(p.Ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Media: medium, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}},
	})
	if err != nil {
		p.Fatal(err)
	}
}

// Shot keeps a picture of the page, to be looked at.
func (p *Tab) Shot(name string) {
	p.Helper()
	p.View()
	png, err := chromedp.Run(p.Ctx, chromedp.CaptureScreenshot())
	if err != nil {
		p.Fatal(err)
	}
	Keep(p, name+".png", png)
}

// Keep writes what a test of a package of reports made into build/screenshots.
func Keep(t testing.TB, name string, b []byte) {
	t.Helper()
	dir := filepath.Join("..", "..", "build", "screenshots")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
		t.Fatal(err)
	}
}
