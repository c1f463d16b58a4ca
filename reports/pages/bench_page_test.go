package pages

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/reports/browser"
	"github.com/dlmtest/dlmtest/reports/sample"
)

// frames zooms in and out of the timeline for four seconds, and counts.
const frames = `new Promise(done => {
  const board = document.getElementById("timeline"), began = performance.now();
  let n = 0, last = began, worst = 0, drawing = 0;
  const step = now => {
    drawing += performance.now() - now; // the page draws in the same frame, before this
    worst = Math.max(worst, n ? now - last : 0);
    last = now;
    if (now - began > 4000) return done([n / (now - began) * 1000, worst, drawing / n]);
    n++;
    const y = Math.floor((now - began) / 1000) % 2 ? 40 : -40;
    board.dispatchEvent(new WheelEvent("wheel", {deltaY: y, offsetX: 700, clientX: 700, clientY: 10, ctrlKey: true, cancelable: true}));
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})`

// seek is how long a search of all operations takes, from the key that starts it.
const seek = `new Promise(done => {
  const field = document.getElementById("search"), matches = document.getElementById("matches"), began = performance.now();
  new MutationObserver(() => done(performance.now() - began)).observe(matches, {childList: true});
  field.value = "client:client-2 release";
  field.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter"}));
})`

// BenchmarkPage prints the figures of a page with a million operations, each an
// invoke and its end, in a real Chromium: size, time to the first paint of the text,
// to the drawing and to the whole of the data, and frames a second while zooming.
func BenchmarkPage(b *testing.B) {
	r := million()
	b.Logf("%d operations, %d lines of history", r.Result.Counts.Operations, len(r.Ops))
	for b.Loop() {
		began := time.Now()
		var page bytes.Buffer
		if err := HTML(&page, r.Run, r.Setup, r.Ops, r.Result); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(time.Since(began).Seconds(), "s/render")
		b.ReportMetric(float64(page.Len())/1e6, "MB")
		p := browser.Open(b, browser.Start(b), browser.File(b, page.Bytes()))
		p.Visit("")
		p.Do(browser.Whole)
		times := browser.Eval[[]float64](p, `[performance.getEntriesByName("first-contentful-paint")[0].startTime, +document.documentElement.dataset.ready, +document.documentElement.dataset.whole]`)
		rate := browser.Eval[[]float64](p, frames)
		b.ReportMetric(times[0], "ms/paint")
		b.ReportMetric(times[1], "ms/drawn")
		b.ReportMetric(times[2], "ms/whole")
		b.ReportMetric(rate[0], "frames/s")
		b.ReportMetric(rate[1], "ms/worst-frame")
		b.ReportMetric(rate[2], "ms/draw")
		b.ReportMetric(browser.Eval[float64](p, seek), "ms/search")
		b.ReportMetric(0, "ns/op")
	}
}

// million is a run of a million operations, with grants named as randomly as those of
// a real run and with the notes that a resource and a client make at each read.
func million() sample.Report {
	r := sample.GCPause(true, 250_000)
	rng := rand.New(rand.NewPCG(1, 2))
	names := map[string]string{}
	var ops []history.Op
	operations := 0
	for _, op := range r.Ops {
		if op.Owner != "" && names[op.Owner] == "" {
			names[op.Owner] = op.Owner + "/" + letters(rng, 10)
		}
		op.Owner = names[op.Owner]
		if op.Type == history.Invoke {
			operations++
		}
		note := history.Op{Time: op.Time, Type: history.Note, Key: op.Key, Owner: op.Owner, Token: op.Token}
		if op.F == history.Read && op.Type == history.OK {
			seen, holder := note, note
			seen.Time, seen.Node, seen.F, seen.Unfenced, seen.Fenced = max(ops[len(ops)-1].Time, op.Time-rng.Int64N(300_000)), "resource", history.ReadSeen, op.Unfenced, op.Fenced
			holder.Node, holder.F, holder.Sent = op.Node, history.Holder, op.Time-rng.Int64N(900_000)
			ops = append(ops, seen, op, holder)
			continue
		}
		ops = append(ops, op)
	}
	for i := range ops {
		ops[i].Index = i
	}
	r.Ops, r.Result = ops, sample.JudgedPause(r.Setup, ops, true)
	r.Result.Counts.Operations = operations
	return r
}

func letters(rng *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		b.WriteByte("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[rng.IntN(32)])
	}
	return b.String()
}
