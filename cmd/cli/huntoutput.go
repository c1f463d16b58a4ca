package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/internal/nouns"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/serve"
	"github.com/dlmtest/dlmtest/runner/hunt"
)

// huntError gives a hunt its exit code; err is dlmtest's own.
func huntError(ctx context.Context, r *hunt.Report, err error) error {
	switch {
	case len(r.Findings) > 0:
		return verdictError{checker.Violated, err}
	case err != nil:
		return err
	case r.Trials == 0 && r.Stopped != "" && len(r.Merged) == 0 && ctx.Err() == nil:
		return errors.New("the hunt ended: " + r.Stopped)
	case r.Little != "" || errors.Is(ctx.Err(), context.Canceled):
		return verdictError{verdict: checker.Unknown}
	}
	return nil
}

// listedHunt is a hunt as dlmtest serve lists it.
func listedHunt(name string, data []byte) (l serve.Listed, err error) {
	r, err := hunt.Decode(name, data)
	if err != nil {
		return l, err
	}
	l = serve.Listed{Title: r.Lock, Started: r.Started, Verdict: reports.Good, Says: "nothing found", More: r.Summary()}
	switch {
	case len(r.Findings) > 0:
		l.Verdict, l.Says = reports.Violates, nouns.Count(len(r.Findings), "finding")
	case r.Little != "":
		l.Verdict, l.Says = reports.Unclear, "too little was tried"
	}
	return l, nil
}

// tellHunt prints what came of a hunt.
func tellHunt(dir string, r *hunt.Report, asJSON bool) {
	if asJSON {
		event(stdout, map[string]any{"event": "hunted", "dir": dir, "report": r})
		return
	}
	fmt.Fprintln(stdout, r.Summary())
	for i, x := range r.Findings {
		fmt.Fprintf(stdout, "\n%d. %s\n   %s\n   counts because: %s\n   shown in %s, found after %.0f s; %s\n   "+
			"scenario %s\n   run      %s\n", i+1, x.Property, x.Message,
			x.Why, x.Rates(), x.Seconds, x.Size, filepath.Join(dir, x.Scenario), x.Line())
		if x.Note != "" {
			fmt.Fprintln(stdout, "   note:    "+x.Note)
		}
	}
	tried, seen := 0, 0
	for _, c := range r.Coverage {
		tried, seen = tried+c.Tried, seen+c.Seen
	}
	fmt.Fprintf(stdout, "\nfaults: %d tried at %s, %d seen at their victims\n", tried,
		nouns.Count(len(r.Coverage), "trigger"), seen)
	if never := r.Unreached(); len(never) > 0 {
		fmt.Fprintf(stdout, "never seen at a victim: %s\n", strings.Join(never, ", "))
	}
	if once := r.SeenOnce(); len(once) > 0 {
		fmt.Fprintf(stdout, "violated and not seen again, so no findings: %s\n", strings.Join(once, ", "))
		seen := filepath.Join(dir, hunt.SeenDir)
		if _, err := os.Stat(seen); err == nil {
			fmt.Fprintf(stdout, "   their histories, for dlmtest check: %s\n", seen)
		}
	}
	if open := r.Undecided(); len(open) > 0 {
		fmt.Fprintf(stdout, "violated and not looked into, as the time was over: %s\n", strings.Join(open, ", "))
	}
	fmt.Fprintf(stdout, "report %s\n", filepath.Join(dir, "index.html"))
}
