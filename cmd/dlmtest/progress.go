package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/dlmtest/dlmtest/runner"
)

// progress is how a run shows itself while it goes on.
type progress interface {
	runner.Progress
	Done()
}

// newProgress chooses: a bar on a terminal, plain lines elsewhere, JSON lines on demand.
func newProgress(asJSON bool) progress {
	switch {
	case asJSON:
		return jsonProgress{json.NewEncoder(os.Stdout)}
	case term.IsTerminal(int(os.Stderr.Fd())):
		return &barProgress{}
	}
	return &plainProgress{}
}

func counts(c runner.Counts) string {
	return fmt.Sprintf("%d grants, %d writes (%d refused by the fenced copy), %d unknown, %d faults",
		c.Grants, c.Writes, c.Refused, c.Unknown, c.Faults)
}

// plainProgress prints a line for each phase, and one each two seconds of load.
type plainProgress struct{ last time.Time }

func (p *plainProgress) Phase(text string) { fmt.Fprintln(os.Stderr, text) }
func (p *plainProgress) Line(text string)  { fmt.Fprintln(os.Stderr, "  "+text) }
func (p *plainProgress) Done()             {}

func (p *plainProgress) Live(c runner.Counts, done float64) {
	if time.Since(p.last) >= 2*time.Second {
		p.last = time.Now()
		fmt.Fprintf(os.Stderr, "  %3.0f %%: %s\n", done*100, counts(c))
	}
}

// barProgress draws a bar with live counts during the load.
type barProgress struct{ bar *progressbar.ProgressBar }

func (p *barProgress) Phase(text string) {
	p.Done()
	fmt.Fprintln(os.Stderr, text)
}

func (p *barProgress) Line(text string) { fmt.Fprintln(os.Stderr, "  "+text) }

func (p *barProgress) Live(c runner.Counts, done float64) {
	if p.bar == nil {
		p.bar = progressbar.NewOptions(1000, progressbar.OptionSetWriter(os.Stderr), progressbar.OptionSetWidth(24),
			progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(true), progressbar.OptionClearOnFinish())
	}
	p.bar.Describe(counts(c))
	_ = p.bar.Set(int(done * 1000)) // it is only drawn
}

func (p *barProgress) Done() {
	if p.bar != nil {
		_ = p.bar.Finish()
		p.bar = nil
	}
}

// jsonProgress prints a JSON object a line.
type jsonProgress struct{ out *json.Encoder }

func (p jsonProgress) Phase(text string) { p.event("phase", "text", text) }
func (p jsonProgress) Line(text string)  { p.event("line", "text", text) }
func (p jsonProgress) Done()             {}
func (p jsonProgress) Live(c runner.Counts, done float64) {
	_ = p.out.Encode(map[string]any{"event": "live", "counts": c, "done": done})
}

func (p jsonProgress) event(kind, name string, v any) {
	_ = p.out.Encode(map[string]any{"event": kind, name: v}) // a closed pipe ends the run by signal
}
