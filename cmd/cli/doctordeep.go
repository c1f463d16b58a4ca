package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/clusters"
	"github.com/dlmtest/dlmtest/internal/nouns"
	"github.com/dlmtest/dlmtest/runner/faultcheck"
)

// deepLimit is how long the faults are measured at most; what is left then is not measured.
const deepLimit = time.Minute

// deep is what doctor --deep has to tell.
type deep struct {
	Findings []clusters.Finding  `json:"findings"`
	Runtime  string              `json:"runtime"` // in which the faults were measured
	Seconds  float64             `json:"seconds"`
	Measured []faultcheck.Line   `json:"measured"`
	Broken   []faultcheck.Broken `json:"broken"`
}

// measureFaults runs the short form of make fault-check in one runtime.
func measureFaults(ctx context.Context, found []clusters.Finding, runtime string) (d deep, err error) {
	if runtime == "" || runtime == "auto" {
		runtime = "local"
		if clusters.Works(found, "docker") {
			runtime = "docker"
		}
	}
	if !clusters.Works(found, runtime) {
		return d, fmt.Errorf("no fault can be measured: the runtime %s does not work on this machine", runtime)
	}
	d = deep{Findings: found, Runtime: runtime}
	fmt.Fprintf(stderr, "Measuring the faults from outside, in the runtime %s: a minute at most\n", runtime)
	begun := time.Now()
	o := faultcheck.Options{Runtime: runtime, Scenarios: faultcheck.Short, Self: self(), Version: version, Parallel: 2, Limit: deepLimit,
		Say: func(text string) { fmt.Fprintln(stderr, "  "+text) }}
	rows, err := faultcheck.Run(ctx, o)
	d.Seconds = time.Since(begun).Seconds()
	d.Measured = faultcheck.Tally(rows)
	d.Broken = faultcheck.BrokenOf(d.Measured)
	return d, err
}

// print tells it, and returns what the exit code says: 0 all is as it says, 3 a fault is not, 2 something was not measured.
func (d deep) print(w io.Writer, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		if err := e.Encode(d); err != nil {
			return err
		}
	} else {
		d.text(w)
	}
	switch {
	case len(d.Broken) > 0:
		return errors.New("a fault does not do on this machine what it says; see what is above")
	case len(faultcheck.Unseen(d.Measured)) > 0:
		return verdictError{verdict: checker.Unknown}
	}
	return nil
}

func (d deep) text(w io.Writer) {
	fault := ""
	for _, l := range d.Measured {
		if l.Fault != fault {
			fault = l.Fault
			fmt.Fprintf(w, "\n%s\n", fault)
		}
		switch l.State {
		case faultcheck.Agrees:
			fmt.Fprintf(w, "  ✓ %s: %s\n", l.What, l.Measured)
		case faultcheck.Disagrees:
			fmt.Fprintf(w, "  ✗ %s: %s\n    the run's own proof: %s\n", l.What, l.Why, l.Said)
		default:
			fmt.Fprintf(w, "  – %s: not measured: %s\n", l.What, l.Why)
		}
	}
	fmt.Fprintf(w, "\n%s in %.0f s, in the runtime %s\n", nouns.Count(len(d.Measured), "measurement"), d.Seconds, d.Runtime)
	for _, b := range d.Broken {
		fmt.Fprintf(w, "✗ The fault %s does not do here what it says. %s.\n  These scenarios have it, and what they show here proves nothing: %s\n",
			b.Fault, strings.Join(b.Why, ". "), strings.Join(b.Scenarios, ", "))
	}
	if len(d.Broken) == 0 {
		fmt.Fprintln(w, "✓ Every fault that was measured does here what it says.")
	}
}
