package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/internal/nouns"
	"github.com/dlmtest/dlmtest/reports"
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
		return jsonProgress{json.NewEncoder(stdout)}
	case onTerminal():
		return &barProgress{}
	}
	return &plainProgress{}
}

// patient lets a command that shows nothing of itself say that it goes on: after two seconds, then every ten.
func patient(cmd *cobra.Command) *cobra.Command {
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		over := make(chan struct{})
		defer close(over)
		go func() {
			begun := time.Now()
			for wait := 2 * time.Second; ; wait = 10 * time.Second {
				select {
				case <-over:
					return
				case <-time.After(wait):
					fmt.Fprintf(stderr, "%s %s: going on for %s\n", cmd.CommandPath(), strings.Join(args, " "), time.Since(begun).Round(time.Second))
				}
			}
		}()
		return run(cmd, args)
	}
	return cmd
}

// counts says as much as fits into so many columns, the most telling first.
func counts(c runner.Counts, columns int) string {
	text := ""
	for _, part := range []string{
		nouns.Count(c.Grants, "grant"), nouns.Count(c.Faults, "fault"), nouns.Count(c.Writes, "write"),
		fmt.Sprintf("%d refused", c.Refused), fmt.Sprintf("%d unknown", c.Unknown),
	} {
		longer := strings.TrimPrefix(text+", "+part, ", ")
		if len(longer) > columns {
			break
		}
		text = longer
	}
	return text
}

// plainProgress prints a line for each phase, and one each two seconds of load.
type plainProgress struct{ last time.Time }

func (p *plainProgress) Phase(text string) { fmt.Fprintln(stderr, text) }
func (p *plainProgress) Line(text string)  { fmt.Fprintln(stderr, "  "+text) }
func (p *plainProgress) Done()             {}

func (p *plainProgress) Live(c runner.Counts, done float64) {
	if time.Since(p.last) >= 2*time.Second {
		p.last = time.Now()
		fmt.Fprintf(stderr, "  %3.0f %%: %s\n", done*100, counts(c, 100))
	}
}

// barProgress draws a bar with live counts during the load.
type barProgress struct {
	bar *progressbar.ProgressBar
	far int // in thousandths; a run that goes on after its last fault is no step back
}

const (
	barWidth = 24
	barRest  = barWidth + len("    83% || [12m34s] ") // what stands beside the counts
	drawn    = 80 * time.Millisecond                  // at least, from one drawing to the next
)

func (p *barProgress) Phase(text string) {
	p.Done()
	fmt.Fprintln(stderr, text)
}

func (p *barProgress) Line(text string) {
	if p.bar != nil {
		_ = p.bar.Clear() // it is only drawn
	}
	fmt.Fprintln(stderr, "  "+text)
}

func (p *barProgress) Live(c runner.Counts, done float64) {
	text := counts(c, columns()-barRest)
	if p.bar == nil {
		p.bar = progressbar.NewOptions(1000, progressbar.OptionSetWriter(cursor), progressbar.OptionSetWidth(barWidth),
			progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(true), progressbar.OptionClearOnFinish(),
			progressbar.OptionThrottle(drawn), progressbar.OptionSetDescription(text))
	}
	// At its end the bar would count as finished, and a load may be prolonged.
	p.far = max(p.far, min(int(done*1000), 999))
	_ = p.bar.Set(p.far) // draws, where the throttle lets it
	p.bar.Describe(text) // is shown with the next drawing
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
func (p jsonProgress) Schedule(faults []reports.Planned) { p.event("schedule", "faults", faults) }

func (p jsonProgress) event(kind, name string, v any) {
	_ = p.out.Encode(map[string]any{"event": kind, name: v}) // a closed pipe ends the run by signal
}
