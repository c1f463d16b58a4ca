package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/internal/nouns"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/runner/shrink"
	"github.com/dlmtest/dlmtest/scenarios"
)

const failed = "dlmtest failed"

// reason is why something ended early, in a few words.
func reason(err error) string {
	switch {
	case errors.Is(err, context.Canceled):
		return "it was interrupted"
	case errors.Is(err, shrink.ErrBudget):
		return "the time was up"
	}
	return failed
}

// tell says what was found.
func (s *shrinking) tell(r shrink.Regression, smallest scenarios.Scenario, begun time.Time) {
	took := time.Since(begun)
	if s.json {
		event(s.w, map[string]any{"event": "smallest", "file": s.file, "size": shrink.Size(smallest), "before": r.Before, "candidates": s.live.Tried,
			"runs": s.live.Runs, "took": took, "rate": r.Rate, "proven": r.Proven, "note": r.Note, "command": shrink.Command(r.Options, s.file)})
		return
	}
	fmt.Fprintf(s.w, "\nwas   %s\nnow   %s\n", r.Before, shrink.Size(smallest))
	fmt.Fprintf(s.w, "%s in %s, %v\n", nouns.Count(s.live.Tried, "candidate"), nouns.Count(s.live.Runs, "run"), took.Round(time.Second))
	if r.Rate.Of > 0 {
		fmt.Fprintf(s.w, "runs of the smallest that showed it: %s\n", r.Rate)
	}
	if r.Note != "" {
		fmt.Fprintln(s.w, "note: "+r.Note)
	}
	fmt.Fprintf(s.w, "saved %s\nrun   %s\n", s.file, shell(shrink.Command(r.Options, s.file)))
}

// say prints text that a reader of JSON does without.
func (s *shrinking) say(format string, args ...any) {
	if !s.json {
		fmt.Fprintf(s.w, format, args...)
	}
}

// Begins implements shrink.Watcher.
func (s *shrinking) Begins(c shrink.Candidate) runner.Progress {
	fmt.Fprintf(stderr, "candidate %d: %s\n", c.Number, c.Size)
	return quiet{}
}

// Ended implements shrink.Watcher.
func (s *shrinking) Ended(c shrink.Candidate, proof bool) {
	if s.json {
		event(s.w, map[string]any{"event": "candidate", "candidate": c, "proof": proof})
		return
	}
	says := "violated"
	switch {
	case proof && c.Rate.Seen == s.prove:
		says = "proven"
	case proof:
		says = "not every time"
	case c.Rate.Seen == 0:
		says = "not seen"
	case !c.Violates:
		says = "not every time"
	}
	text := fmt.Sprintf("%3d  %-14s %d of %d  %5.1f s  %s", c.Number, says, c.Rate.Seen, c.Rate.Of, c.Took.Seconds(), c.Size)
	if c.Disturbed > 0 {
		text += fmt.Sprintf("  (disturbed and done again: %d)", c.Disturbed)
	}
	fmt.Fprintln(s.w, text)
}

// shell joins words so that a shell takes them apart again.
func shell(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = w
		if w == "" || strings.ContainsAny(w, " \t\n'\"\\$`*?[]{}()<>|&;#~!") {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}
