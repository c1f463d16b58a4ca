package shrink

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/internal/stats"
	"github.com/dlmtest/dlmtest/internal/whole"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/runner/matrix"
	"github.com/dlmtest/dlmtest/scenarios"
)

// ErrBudget says that the time is up.
var ErrBudget = errors.New("the budget is spent")

// Candidate is a scenario that was tried, and what its runs have shown.
type Candidate struct {
	Number    int                `json:"number"` // from 1; of those that were run
	Scenario  scenarios.Scenario `json:"-"`
	Size      string             `json:"size"`
	Rate      stats.Rate         `json:"rate"`     // the violation was seen in so many runs of so many
	Violates  bool               `json:"violates"` // it counts as one that still violates; of a proof: every time
	Disturbed int                `json:"disturbed,omitempty"`
	Took      time.Duration      `json:"took"`
	File      string             `json:"file"`          // of the scenario
	Dir       string             `json:"dir,omitempty"` // the last run
}

// Live asks real runs whether scenarios still violate. It is used by one goroutine.
type Live struct {
	Options  runner.Options // of every run, beside its scenario
	Property string         // that is to be violated
	Tries    int            // runs of a candidate until the violation is seen
	Reliable bool           // a candidate counts only when all of Tries show the violation
	Deadline time.Time      // no run begins that would end later
	Prove    int            // runs at the end, for which time is kept
	Dir      string         // of the candidates and their runs
	See      Watcher
	Keep     func(Candidate) error                                                           // called with each that is smaller than all before
	Run      func(context.Context, runner.Options, runner.Progress) (*runner.Outcome, error) // runner.Run

	Kept  []Candidate // those that violate, each smaller than the one before
	Tried int         // candidates that were run
	Runs  int         // runs of theirs
	known map[string]bool
	last  time.Duration // of the last run
}

// Watcher is told what goes on.
type Watcher interface {
	// Begins is told of a candidate and gives its runs something to tell their progress to.
	Begins(c Candidate) runner.Progress
	// Ended is told what the runs of a candidate have shown; proof says that they were
	// to show it every time.
	Ended(c Candidate, proof bool)
}

// Violates implements Oracle. What was tried before is not tried again.
func (l *Live) Violates(ctx context.Context) Oracle {
	return func(s scenarios.Scenario) (bool, error) {
		key := string(s.YAML())
		if yes, known := l.known[key]; known {
			return yes, nil
		}
		sense, err := l.sense(ctx, s)
		if err != nil || !sense {
			return false, err
		}
		c, err := l.try(ctx, s)
		if err != nil {
			return false, err
		}
		if l.known == nil {
			l.known = map[string]bool{}
		}
		l.known[key] = c.Violates
		if !c.Violates {
			return false, nil
		}
		l.Kept = append(l.Kept, c)
		return true, l.Keep(c)
	}
}

// sense says whether a scenario can be run at all.
func (l *Live) sense(ctx context.Context, s scenarios.Scenario) (bool, error) {
	if s.Validate() != nil {
		return false, nil
	}
	o := l.Options
	o.Scenario = s
	reason, err := runner.Applies(ctx, o)
	return reason == "", err
}

// try runs a candidate until the violation is seen, or as often as it may; a reliable
// one until it is not.
func (l *Live) try(ctx context.Context, s scenarios.Scenario) (Candidate, error) {
	c, err := l.candidate(s)
	if err != nil {
		return c, err
	}
	begun := time.Now()
	show := l.See.Begins(c)
	for c.Rate.Of < l.Tries && (l.Reliable && c.Rate.Seen == c.Rate.Of || !l.Reliable && c.Rate.Seen == 0) {
		if l.last > 0 && time.Until(l.Deadline) < l.last*time.Duration(1+l.Prove) {
			return c, ErrBudget
		}
		if err := l.run(ctx, &c, show); err != nil {
			return c, err
		}
	}
	l.Tried++
	c.Violates = c.Rate.Seen > 0 && (!l.Reliable || c.Rate.Seen == c.Rate.Of)
	c.Took = time.Since(begun)
	l.See.Ended(c, false)
	return c, nil
}

// candidate gives a scenario a number and a file.
func (l *Live) candidate(s scenarios.Scenario) (Candidate, error) {
	c := Candidate{Number: l.Tried + 1, Scenario: s, Size: Size(s)}
	file := said(s, l.Options)
	c.File = filepath.Join(l.Dir, fmt.Sprintf("candidate-%d.yaml", c.Number))
	return c, whole.At(c.File, runner.Text(func(w io.Writer) error { _, err := w.Write(file.YAML()); return err }))
}

// run runs a candidate once more. A run that the machine disturbed does not count,
// unless it shows the violation, and one that dlmtest fails in is done once more.
func (l *Live) run(ctx context.Context, c *Candidate, show runner.Progress) error {
	for attempt := 1; ; attempt++ {
		o := l.Options
		o.Scenario, o.Out, o.Part = c.Scenario, l.Dir, true
		o.Command = Command(o, c.File)
		begun := time.Now()
		out, err := l.Run(ctx, o, show)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		l.last = time.Since(begun)
		l.Runs++
		if out != nil {
			c.Dir = out.Dir
			if p := out.Result.Property(l.Property); p != nil && p.Verdict == checker.Violated {
				c.Rate.Seen++
				c.Rate.Of++
				return nil
			}
		}
		switch {
		case err != nil && attempt > 1:
			return fmt.Errorf("candidate %d, twice: %w", c.Number, err)
		case err != nil:
		case matrix.Disturbed(out.Result) && attempt == 1:
			c.Disturbed++
		default:
			c.Rate.Of++
			return nil
		}
	}
}

// Proven runs the smallest scenario that was kept, as finish makes a file of it, as
// often as it is to be proven. Where the violation stays out even once, it goes back to
// the next larger one, as long as there is time. It returns the one that was seen every
// time, else the one that was seen most often, and how often.
func (l *Live) Proven(ctx context.Context, finish func(scenarios.Scenario) (*scenarios.Scenario, error)) (best Candidate, err error) {
	for i, kept := range slices.Backward(l.Kept) {
		if i < len(l.Kept)-1 && time.Until(l.Deadline) < l.last*time.Duration(l.Prove) {
			return best, ErrBudget
		}
		s, err := finish(kept.Scenario)
		if err != nil {
			return best, err
		}
		c, err := l.prove(ctx, kept, *s)
		if best.Number == 0 || c.Rate.Of > 0 && c.Rate.Seen*best.Rate.Of > best.Rate.Seen*c.Rate.Of {
			best = c
			best.Scenario = kept.Scenario
		}
		if err != nil || c.Rate.Seen == l.Prove {
			return best, err
		}
	}
	return best, nil
}

// prove runs one scenario until the violation stays out, or it was seen every time.
func (l *Live) prove(ctx context.Context, kept Candidate, s scenarios.Scenario) (Candidate, error) {
	c := Candidate{Number: kept.Number, Scenario: s, Size: kept.Size, File: kept.File}
	begun := time.Now()
	show := l.See.Begins(c)
	for c.Rate.Of < l.Prove && c.Rate.Seen == c.Rate.Of {
		if err := l.run(ctx, &c, show); err != nil {
			return c, err
		}
	}
	c.Took, c.Violates = time.Since(begun), c.Rate.Seen == l.Prove
	l.See.Ended(c, true)
	return c, nil
}
