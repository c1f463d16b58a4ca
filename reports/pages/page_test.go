package pages

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/browser"
	"github.com/dlmtest/dlmtest/reports/sample"
	"github.com/dlmtest/dlmtest/reports/say"
	"github.com/dlmtest/dlmtest/reports/story"
	"github.com/dlmtest/dlmtest/reports/timeline"
)

// scene is what the tests of the page have in common: a browser, a run and its page.
type scene struct {
	browser context.Context
	sample.Report
	page []byte
	late checker.Violation // the one that the page tells first
}

// TestPageInChromium opens pages in a real browser, all in one.
func TestPageInChromium(t *testing.T) {
	t.Parallel() // it takes seconds, of which it waits for most
	s := scene{browser: browser.Start(t), Report: sample.GCPause(true, 40)}
	s.page, s.late = render(t, s.Report), s.Result.Properties[0].Violations[0]
	for _, c := range []struct {
		name string
		test func(*testing.T, scene)
	}{
		{"reads every operation back", pageReadsEveryOperationBack},
		{"steps lead to their place", pageStepsLeadToTheirPlace},
		{"keys", pageKeys},
		{"violations", pageViolations},
		{"search", pageSearch},
		{"pointer", pagePointer},
		{"idle lanes", pageFoldsIdleLanes},
		{"table of operations", pageTableOfOperations},
		{"light, dark and paper", pageLightDarkAndPaper},
		{"small screen", pageSmallScreen},
		{"hostile text", pageHostileText},
		{"no verdict needed", pageNoVerdictNeeded},
		{"damaged file", pageDamagedFile},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, s) })
	}
}

func pageReadsEveryOperationBack(t *testing.T, s scene) {
	p := browser.Show(t, s.browser, s.page, "")
	got := browser.Eval[[]map[string]any](p, `Array.from({length: dlmtest.count}, (_, i) => JSON.parse(JSON.stringify(dlmtest.op(i))))`)
	if len(got) != len(s.Ops) {
		t.Fatalf("%d operations, want %d", len(got), len(s.Ops))
	}
	for i := range s.Ops {
		if want := asShown(s.Ops, i); fmt.Sprint(got[i]) != fmt.Sprint(want) {
			t.Fatalf("operation %d reads\n%v\nwant\n%v", i, got[i], want)
		}
	}
	p.Quiet()
}

func pageStepsLeadToTheirPlace(t *testing.T, s scene) {
	p := browser.Show(t, s.browser, s.page, "")
	p.Shot("page")
	before := p.View()
	n := browser.Eval[int](p, `document.querySelectorAll("[data-step]").length`)
	if n < 6 {
		t.Fatalf("the story has %d steps", n)
	}
	steps := story.Of(s.Setup, s.Ops, s.late)
	for i := range n {
		p.Click(fmt.Sprintf(`[data-step="%d"] a`, i))
		v, at := p.View(), steps[i].At.Microseconds()
		if v == before || v[0] > at || v[1] < at {
			t.Errorf("step %d is at %d µs, the timeline shows %v, before it was %v", i+1, at, v, before)
		}
		if got := browser.Eval[string](p, "location.hash"); got != fmt.Sprintf("#violation-2-step-%d", i+1) {
			t.Errorf("step %d has the address %s", i+1, got)
		}
	}
	p.To("timeline-head")
	p.Shot("step")
	p.Quiet()
}

// pageFoldsIdleLanes holds that lanes on which nothing happened share a row until they are asked for.
func pageFoldsIdleLanes(t *testing.T, s scene) {
	p := browser.Show(t, s.browser, render(t, sample.GCPause(false, 40)), "") // five servers that nothing happens to
	button := func() string { return browser.Eval[string](p, `document.querySelector("[data-do=fold]").textContent`) }
	show := button()
	idle, ok := strings.CutPrefix(show, "Show ")
	if !ok {
		t.Fatalf("the button says %q", show)
	}
	height := func() int { return browser.Eval[int](p, `document.getElementById("timeline").clientHeight`) }
	folded := height()
	p.To("timeline-head")
	p.Shot("folded")
	p.Click("[data-do=fold]")
	if whole := height(); whole <= folded {
		t.Errorf("the timeline is %d px high with %s, and %d px without", whole, idle, folded)
	}
	if got := button(); got != "Fold "+idle {
		t.Errorf("the button says %q", got)
	}
	p.Click("[data-do=fold]")
	if got := height(); got != folded || button() != show {
		t.Errorf("folded again the timeline is %d px high, want %d, and the button says %q", got, folded, button())
	}
	p.Quiet()
}

func pageKeys(t *testing.T, s scene) {
	p := browser.Show(t, s.browser, s.page, "")
	p.Do(chromedp.Focus(chromedp.CSS("#timeline")))
	whole := func() [2]int64 { p.Press("0"); return p.View() }
	first := whole()
	p.Press("+")
	if v := p.View(); v[1]-v[0] >= first[1]-first[0] {
		t.Errorf("+ shows %v of %v", v, first)
	}
	in := p.View()
	p.Press(kb.ArrowRight)
	if v := p.View(); v[0] <= in[0] || v[1]-v[0] > in[1]-in[0]+2 {
		t.Errorf("→ moves %v to %v", in, v)
	}
	whole()
	p.Press(".")
	p.Until(`document.getElementById("focus").textContent.includes("operation 0 as recorded")`)
	p.Press(".")
	p.Until(`document.getElementById("focus").textContent.includes("operation 1 as recorded")`)
	p.Press("]")
	p.Until(`!document.getElementById("focus").textContent.includes("operation 1 as recorded")`)
	whole()
	p.Press(kb.ArrowDown)
	p.Until(`document.getElementById("say").textContent.startsWith("1 of ")`)
	p.Press(kb.ArrowDown)
	p.Until(`document.getElementById("say").textContent.startsWith("2 of ")`)
	p.Press("V") // the damage is told first, its cause was before
	p.Until(`location.hash === "#violation-1"`)
	p.Press("/")
	p.Until(`document.activeElement.id === "search"`)
	p.Do(chromedp.Focus(chromedp.CSS("#overview")))
	p.Press("+")
	at := p.View()
	p.Press(kb.ArrowLeft)
	if v := p.View(); v[0] >= at[0] && at[0] > 0 {
		t.Errorf("← in the overview moves %v to %v", at, v)
	}
	p.Quiet()
}

func pageViolations(t *testing.T, s scene) {
	p := browser.Show(t, s.browser, s.page, "#violation-2")
	p.Until(`document.getElementById("message").textContent.includes("was overwritten by")`)
	p.Do(chromedp.Focus(chromedp.CSS("#timeline")))
	p.Press("+++")
	near := p.View()
	browser.Eval[chromedp.Void](p, `{ const s = document.getElementById("violation"); s.value = "1"; s.dispatchEvent(new Event("change")); }`)
	p.Until(`document.getElementById("message").textContent.includes("although")`)
	if v := p.View(); v == near || v[0] > (s.late.At-s.Ops[0].Time)/1000 || v[1] < (s.late.At-s.Ops[0].Time)/1000 {
		t.Errorf("the timeline shows %v before and %v after another violation is chosen, which is at %d", near, v, (s.late.At-s.Ops[0].Time)/1000)
	}
	browser.Eval[chromedp.Void](p, `document.querySelectorAll("details").forEach(d => d.open = true)`)
	p.Click(`a[data-violation="2"]`)
	p.Until(`document.getElementById("story-of").textContent.includes("no-lost-update")`)
	rows := browser.Eval[string](p, `document.getElementById("story").tBodies[0].innerText`)
	for _, s := range story.Of(s.Setup, s.Ops, s.Result.Properties[3].Violations[0]) {
		if !strings.Contains(rows, say.Seconds(int64(s.At))) {
			t.Errorf("no row at %s: %s", say.Seconds(int64(s.At)), rows)
		}
	}
	p.Visit("#violation-99")
	p.Until(`document.getElementById("say").textContent.includes("not on this page")`)
	p.Quiet()
}

func pageSearch(t *testing.T, s scene) {
	p := browser.Show(t, s.browser, s.page, "")
	for query, fits := range map[string]func(op *history.Op) bool{
		"client:client-2": func(op *history.Op) bool { return op.Node == "client-2" },
		"token:3":         func(op *history.Op) bool { return op.Token == 3 },
		"key:ORDERS":      func(op *history.Op) bool { return op.Key == "orders" },
		"fault:pause":     func(op *history.Op) bool { return op.Fault != nil },
		"#17":             func(op *history.Op) bool { return op.Index == 17 },
		"release fail":    func(op *history.Op) bool { return op.F == history.Release && op.Type == history.Fail },
		"not there":       func(*history.Op) bool { return false },
	} {
		want := 0
		for i := range s.Ops {
			if fits(&s.Ops[i]) {
				want++
			}
		}
		text := fmt.Sprintf("%d operations", want)
		switch want {
		case 0:
			text = "nothing found"
		case 1:
			text = "1 operation"
		}
		browser.Eval[chromedp.Void](p, `{ const f = document.getElementById("search"); f.value = `+string(must(json.Marshal(query)))+`; f.dispatchEvent(new Event("input")); }`)
		p.Until(fmt.Sprintf(`document.getElementById("matches").textContent === %q`, text))
	}
	browser.Eval[chromedp.Void](p, `document.getElementById("search").value = ""`)
	p.Do(chromedp.Focus(chromedp.CSS("#search")))
	p.Press("token:3")
	p.Press("\r")
	p.Until(`document.getElementById("matches").textContent.startsWith("1 of ")`)
	first := browser.Eval[string](p, `document.getElementById("focus").textContent`)
	p.Click(`[data-do="findNext"]`)
	p.Until(`document.getElementById("matches").textContent.startsWith("2 of ")`)
	if again := browser.Eval[string](p, `document.getElementById("focus").textContent`); again == first {
		t.Error("the next match is the same operation")
	}
	p.To("timeline-head")
	p.Shot("search")
	p.Quiet()
}

func pagePointer(t *testing.T, s scene) {
	belief := timeline.Belief(timeline.New(s.Setup, s.Ops).Grants[2]) // of one client, to fill the timeline
	lane := strings.TrimPrefix(timeline.New(s.Setup, s.Ops).Grants[2].Node, "client-")
	p := browser.Show(t, s.browser, s.page, fmt.Sprintf("#t=%.6f-%.6f", float64(belief.From-s.Ops[0].Time)/1e9, float64(belief.To-s.Ops[0].Time)/1e9))
	p.To("timeline-head")
	at := browser.Eval[[2]float64](p, `(() => { const r = document.getElementById("timeline").getBoundingClientRect(); return [r.left + 600, r.top + 50 + 26 * (`+lane+` - 0.5)]; })()`)
	p.Do(chromedp.MouseEvent(chromedp.MouseMoved, at[0], at[1]))
	p.Until(`!document.getElementById("tip").hidden && document.getElementById("tip").textContent.includes("index:")`)
	p.Shot("hover")
	p.Do(chromedp.MouseClickXY(at[0], at[1]))
	p.Until(`document.getElementById("focus").textContent.includes("as recorded")`)
	wide := p.View()
	mini := browser.Eval[[2]float64](p, `(() => { const r = document.getElementById("overview").getBoundingClientRect(); return [r.left + 700, r.top + 15]; })()`)
	p.Do(chromedp.MouseClickXY(mini[0], mini[1]))
	if v := p.View(); v[0] <= wide[1] || v[1]-v[0] > wide[1]-wide[0]+2 {
		t.Errorf("a click in the overview moved %v to %v", wide, v)
	}
	before := p.View()
	p.Drag(mini[0], mini[1], mini[0]-300)
	if v := p.View(); v[0] >= before[0] || v[1]-v[0] > before[1]-before[0]+2 {
		t.Errorf("dragging the window of the overview to the left moved %v to %v", before, v)
	}
	p.Do(chromedp.Focus(chromedp.CSS("#timeline")))
	p.Press("0")
	full := p.View()
	right := browser.Eval[float64](p, `document.getElementById("overview").getBoundingClientRect().right - 14`)
	p.Drag(right, mini[1], right-400)
	if v := p.View(); v[0] != 0 || v[1] >= full[1] {
		t.Errorf("dragging the right edge of the window moved %v to %v", full, v)
	}
	p.Drag(at[0], at[1], at[0]+200)
	if v := p.View(); v[0] != 0 {
		t.Errorf("the timeline was dragged before its begin: %v", v)
	}
	p.Quiet()
}

func pageTableOfOperations(t *testing.T, s scene) {
	p := browser.Show(t, s.browser, s.page, "#t=0-0.02")
	browser.Eval[chromedp.Void](p, `document.getElementById("listing").open = true`)
	p.Until(`document.querySelectorAll("#listing tbody tr").length > 5`)
	p.Click(`#listing a[href="#op-3"]`)
	p.Until(`document.getElementById("focus").textContent.includes("operation 3 as recorded")`)
	p.Quiet()
}

func pageLightDarkAndPaper(t *testing.T, s scene) {
	p := browser.Show(t, s.browser, s.page, "")
	colour := func() string {
		p.View()
		return browser.Eval[string](p, `getComputedStyle(document.body).backgroundColor + `+pixels+`.slice(0, 4000)`)
	}
	light := colour()
	p.Media("screen", "dark")
	p.Shot("dark")
	if dark := colour(); dark == light {
		t.Errorf("dark looks like light: %s", dark)
	}
	p.Media("", "dark")
	pdf, err := chromedp.Run(p.Ctx, chromedp.PrintToPDF(chromedp.PDFPaper(chromedp.PaperA4), chromedp.PDFPrintBackground()))
	if err != nil || !bytes.HasPrefix(pdf, []byte("%PDF")) {
		t.Fatalf("print: %v", err)
	}
	browser.Keep(t, "print.pdf", pdf)
	if browser.Eval[bool](p, `document.documentElement.classList.contains("printed")`) {
		t.Error("the page stays as it was printed")
	}
	p.Quiet()
}

func pageSmallScreen(t *testing.T, s scene) {
	p := browser.Show(t, s.browser, s.page, "")
	p.Do(chromedp.EmulateViewport(390, 800))
	p.View()
	p.Phone()
	if wide := browser.Eval[int](p, `document.documentElement.scrollWidth`); wide > 400 {
		t.Errorf("the page is %d pixels wide on a screen of 400", wide)
	}
	p.Shot("small")
	p.Quiet()
}

func pageHostileText(t *testing.T, s scene) {
	r, hostile := hostileRun()
	p := browser.Show(t, s.browser, render(t, r), "#violation-2-step-1")
	p.Do(chromedp.Focus(chromedp.CSS("#timeline")))
	p.Press("nnn.].v")
	browser.Eval[chromedp.Void](p, `document.querySelectorAll("details").forEach(d => d.open = true)`)
	p.Do(chromedp.Focus(chromedp.CSS("#search")))
	p.Press("alert\r")
	p.Until(`document.getElementById("matches").textContent.includes(" of ")`)
	p.Until(`document.querySelectorAll("#listing tbody tr").length > 0`)
	p.Press("\x1b")
	p.Do(chromedp.Focus(chromedp.CSS("#timeline")))
	p.Press("0")
	p.View()
	tips := browser.Eval[string](p, `(() => {
	  const board = document.getElementById("timeline"), r = board.getBoundingClientRect(), seen = new Set();
	  for (let x = 110; x < r.width; x += 19) for (let y = 50; y < r.height; y += 13) {
	    board.dispatchEvent(new PointerEvent("pointermove", {clientX: r.left + x, clientY: r.top + y}));
	    if (!document.getElementById("tip").hidden) seen.add(document.getElementById("tip").textContent);
	  }
	  return [...seen].join("\n");
	})()`)
	if !strings.Contains(tips, hostile[:20]) || !strings.Contains(tips, "seen at the victim") {
		t.Errorf("pointing everywhere showed %.300q", tips)
	}
	if n := browser.Eval[int](p, `document.querySelectorAll("img, iframe, body script:not([id]):not([type=module])").length`); n != 0 {
		t.Errorf("hostile text became %d elements", n)
	}
	if browser.Eval[bool](p, `"hacked" in window`) {
		t.Error("hostile text was run")
	}
	if !browser.Eval[bool](p, `document.getElementById("focus").textContent.includes(`+string(must(json.Marshal(hostile[:20])))+`)`) {
		t.Error("the operation in focus does not show the hostile text as text")
	}
	p.Quiet()
}

func pageNoVerdictNeeded(t *testing.T, s scene) {
	for name, r := range odd() {
		t.Run(name, func(t *testing.T) {
			p := browser.Show(t, s.browser, render(t, r), "")
			if n := browser.Eval[int](p, `dlmtest.count`); n != len(r.Ops) {
				t.Errorf("%d operations, want %d", n, len(r.Ops))
			}
			drawn := browser.Eval[int](p, "new Set("+pixels+").size")
			if len(r.Ops) > 0 && drawn < 20 {
				t.Errorf("the timeline has %d colours: nothing is drawn", drawn)
			}
			p.Shot("odd-" + strings.ReplaceAll(name, " ", "-"))
			p.Quiet()
		})
	}
}

func pageDamagedFile(t *testing.T, s scene) {
	at := bytes.Index(s.page, []byte(`id="drawn">`)) + 200
	damaged := slices.Clone(s.page)
	copy(damaged[at:], "AAAAAAAAAAAAAAAA")
	p := browser.Open(t, s.browser, browser.File(t, damaged))
	p.Visit("")
	p.Until(`!document.getElementById("broken").hidden`)
	if got := browser.Eval[string](p, `document.getElementById("broken").textContent`); !strings.Contains(got, "dlmtest check") {
		t.Errorf("the page says %q", got)
	}
	p.Quiet()
}

// pixels are the colours of the timeline, read from a copy of it.
const pixels = `(() => {
  const from = document.getElementById("timeline"), to = document.createElement("canvas"), c = to.getContext("2d", {willReadFrequently: true});
  to.width = from.width;
  to.height = from.height;
  c.drawImage(from, 0, 0);
  return Array.from(new Uint32Array(c.getImageData(0, 0, to.width, to.height).data.buffer));
})()`

// asShown is an operation as the page shows it.
func asShown(ops []history.Op, i int) map[string]any {
	op, start := &ops[i], ops[0].Time
	us := func(ns int64) float64 { return float64((ns-start)/1000) / 1e6 }
	m := map[string]any{"index": float64(i), "time": fmt.Sprintf("%.6f s", us(op.Time)), "node": op.Node, "process": float64(op.Process), "type": string(op.Type), "f": string(op.F)}
	for name, s := range map[string]string{"key": op.Key, "owner": op.Owner, "value": op.Value, "error": op.Error} {
		if s != "" {
			m[name] = s
		}
	}
	if op.Token != 0 {
		m["token"] = float64(op.Token)
	}
	if op.Sent != 0 {
		m["sent"] = fmt.Sprintf("%.6f s", us(op.Time)-float64((op.Time-op.Sent)/1000)/1e6)
		m["lease"], m["deadline"] = "2 s", fmt.Sprintf("%.6f s", us(op.Time)+float64((op.Deadline-op.Mono)/1000)/1e6)
	}
	for name, c := range map[string]*history.Copy{"unfenced": op.Unfenced, "fenced": op.Fenced} {
		if c != nil {
			m[name] = copyShown(c)
		}
	}
	if f := op.Fault; f != nil {
		m["fault"] = map[string]any{"id": float64(f.ID), "kind": f.Kind, "target": f.Target, "phase": string(f.Phase)}
		if f.Proof != "" {
			m["fault"].(map[string]any)["proof"] = f.Proof
		}
	}
	return m
}

func copyShown(c *history.Copy) map[string]any {
	m := map[string]any{}
	for name, s := range map[string]string{"value": c.Value, "base": c.Base, "previous": c.Previous} {
		if s != "" {
			m[name] = s
		}
	}
	if c.Accepted {
		m["accepted"] = true
	}
	if c.Token != 0 {
		m["token"] = float64(c.Token)
	}
	return m
}

// odd are runs whose judge said little or nothing.
func odd() map[string]sample.Report {
	unknown := sample.GCPause(true, 40)
	unknown.Result = checker.Result{Properties: []checker.Property{{Name: "mutual-exclusion", Reason: "the checker panicked: index out of range"}}}
	cut := sample.GCPause(false, 40)
	cut.Ops = cut.Ops[:len(cut.Ops)/3]
	cut.Result = checker.Result{Doubts: []string{"The history ends in the middle of a line: what came after it is missing."}}
	cut.Run = reports.Run{Format: reports.Format, ID: "killed", Interrupted: "The run was killed before its end."}
	return map[string]sample.Report{"unknown": unknown, "truncated": cut, "empty": {}}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
