package hunt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/scenarios"
)

// candidate is a violated property of a trial, while it is looked into.
type candidate struct {
	Evidence
	cause, message string
}

// dismissals are how often a cause is dismissed until it is not looked into any more.
const dismissals = 3

// candidates looks into what a trial has violated, and keeps what is a finding. The folder of
// a trial with none goes.
func (h *Hunt) candidates(ctx context.Context, number int, t scenarios.Scenario, seed uint64,
	out *runner.Outcome) error {
	var all []*candidate
	for _, p := range out.Result.Properties {
		if p.Verdict != checker.Violated {
			continue
		}
		row, _ := checker.Find(p.Name)
		c := &candidate{cause: cause(out.Setup, out.Ops, p), Evidence: Evidence{Property: p.Name, Owed: row.Owed,
			Compared: h.Reference != nil, Excuse: excuse(t, out.Setup.Clients)}}
		if v := firmest(p); v != nil {
			c.message = v.Message
		}
		if row.Owed == checker.Unleased && !out.Setup.Promise.Leased {
			c.Owed = checker.Service
		}
		if !h.settled(c, t) {
			all = append(all, c)
		}
	}
	if err := os.RemoveAll(out.Dir); err != nil { // what is a finding is shown by a run of its own
		return err
	}
	if len(all) == 0 {
		return nil
	}
	shows, err := h.look(ctx, t, seed, all)
	if err != nil || ctx.Err() != nil {
		return err
	}
	for _, c := range all {
		decision, why := Decide(c.Evidence)
		if decision == Worse {
			err = errors.Join(err, h.found(c, why, number, t, seed, shows[c.Property]))
			continue
		}
		h.Watch.Says(fmt.Sprintf("no finding, %s: %s", c.Property, h.dismiss(c, decision, why)))
	}
	return errors.Join(err, h.clear())
}

// settled says that a violation is known already: found, dismissed often enough, or accepted.
func (h *Hunt) settled(c *candidate, t scenarios.Scenario) bool {
	for _, f := range h.Report.Findings {
		if f.Cause == c.cause {
			f.Again++
			return true
		}
	}
	if why := h.Known.accepts(c.Property, t); why != "" {
		h.dismiss(c, Accepted, why)
		return true
	}
	for _, d := range h.Report.Left {
		if d.Cause == c.cause && d.Times >= dismissals {
			d.Times++
			return true
		}
	}
	return false
}

// dismiss files a violation that is no finding, and returns why it is none.
func (h *Hunt) dismiss(c *candidate, decision Decision, why string) string {
	if why == "" {
		why = fmt.Sprintf("not decided: seen again in %d of %d, at the reference lock in %d of %d", c.Found.Seen,
			c.Found.Of, c.Reference.Seen, c.Reference.Of)
	}
	for _, d := range h.Report.Left {
		if d.Cause == c.cause {
			d.Times, d.Decision, d.Why = d.Times+1, decision, why
			return why
		}
	}
	h.Report.Left = append(h.Report.Left, &Dismissed{Property: c.Property, Cause: c.cause, Decision: decision,
		Why: why, Times: 1})
	return why
}

// look runs a trial again and at the reference lock until all is decided. The reference comes
// first, as most of what every leased lock shows ends there. It returns a run of this lock that
// shows each property.
func (h *Hunt) look(ctx context.Context, t scenarios.Scenario, seed uint64,
	all []*candidate) (shows map[string]string, err error) {
	shows = map[string]string{}
	reference := h.Reference != nil
	if reference {
		o := *h.Reference
		o.Scenario = t
		why, err := h.Applies(ctx, o)
		if err != nil {
			return nil, err
		}
		reference = why == ""
	}
	for _, c := range all {
		c.Compared = reference
	}
	open := func() bool {
		return slices.ContainsFunc(all, func(c *candidate) bool { d, _ := Decide(c.Evidence); return d == Open })
	}
	turns := []bool{true, false, false, false, true, true} // of the reference
	for attempt := 0; attempt < 2*len(turns) && open() && ctx.Err() == nil; attempt++ {
		ours := !turns[attempt%len(turns)]
		if !ours && !reference {
			continue
		}
		h.Watch.Says(fmt.Sprintf("looking into %s: %s", names(all),
			map[bool]string{true: "again", false: "the reference lock"}[ours]))
		if err := h.once(ctx, t, seed+uint64(attempt)<<32, all, ours, shows); err != nil {
			return shows, err
		}
	}
	return shows, nil
}

func names(all []*candidate) string {
	var words []string
	for _, c := range all {
		words = append(words, c.Property)
	}
	return strings.Join(words, ", ")
}

// once makes one run more and counts it for each candidate. A run that reached no judgement,
// or that the machine disturbed, counts for nobody.
func (h *Hunt) once(ctx context.Context, t scenarios.Scenario, seed uint64, all []*candidate, ours bool,
	shows map[string]string) error {
	o := h.Options
	if !ours {
		o = *h.Reference
	}
	out, err := h.run(ctx, o, t, seed)
	if out == nil {
		h.last = err
		return nil
	}
	for _, c := range all {
		rate := &c.Found
		if !ours {
			rate = &c.Reference
		}
		p := out.Result.Property(c.Property)
		switch {
		case rate.Of >= Repeats:
		case p == nil || p.Verdict == checker.NA:
			c.Compared = c.Compared && ours // the reference does not promise it, so it cannot be compared
		case p.Verdict == checker.Violated:
			rate.Seen++
			rate.Of++
			if ours {
				shows[c.Property] = out.Dir
			}
		case usable(out):
			rate.Of++
		}
	}
	return nil
}

// clear removes the runs that show nothing that is kept.
func (h *Hunt) clear() error {
	dir := filepath.Join(h.Dir, runsDir)
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		kept := slices.ContainsFunc(h.Report.Findings, func(f *Finding) bool { return filepath.Base(f.Run) == e.Name() })
		if !kept {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// found keeps a finding, with its scenario as it was seen: it is made small later.
func (h *Hunt) found(c *candidate, why string, number int, t scenarios.Scenario, seed uint64, run string) error {
	f := &Finding{Property: c.Property, Cause: c.cause, Message: c.message, Why: why, Trial: number, Seed: seed,
		Draft: string(t.YAML()),
		Found: c.Found.Seen, Of: c.Found.Of, ReferenceFound: c.Reference.Seen, ReferenceOf: c.Reference.Of,
		Seconds: round(time.Duration((h.before + time.Since(h.begun).Seconds()) * float64(time.Second))),
		owed:    c.Owed == checker.Service && c.Excuse == ""}
	f.Run, _ = filepath.Rel(h.Dir, run)
	h.Report.Findings = append(h.Report.Findings, f)
	h.Watch.Says(fmt.Sprintf("FOUND %s: %s", f.Property, f.Why))
	return errors.Join(h.write(f, t, "it was not made smaller yet"), h.save())
}

// name is what the scenario of a finding is called, and its file.
func (h *Hunt) name(f *Finding) string {
	lock := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(h.Options.Label()))
	name := fmt.Sprintf("%s-%s-trial-%d", lock, strings.ReplaceAll(f.Property, "/", "-"), f.Trial)
	for strings.Contains(name, "--") {
		name = strings.ReplaceAll(name, "--", "-")
	}
	return name
}
