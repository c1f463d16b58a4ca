package hunt

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/internal/bounded"
	"github.com/dlmtest/dlmtest/reports/picture"
	"github.com/dlmtest/dlmtest/reports/story"
	"github.com/dlmtest/dlmtest/runner"
)

// found keeps a finding, with its scenario as it was seen: it is made small later.
func (h *Hunt) found(c *candidate, why string, s *suspect, run string) error {
	f := &Finding{Property: c.Property, Cause: c.cause.Name, Traits: c.cause.Traits, Why: why, Trial: s.number, Seed: s.seed,
		Draft: string(s.trial.YAML()),
		Found: c.Found.Seen, Of: c.Found.Of, ReferenceFound: c.Reference.Seen, ReferenceOf: c.Reference.Of,
		Seconds: round(time.Duration(h.spent() * float64(time.Second))),
		Owed:    c.Owed == checker.Service && c.Excuse == "" && c.Elsewhere == nil} // what is seen seldom counts by comparison alone
	if c.worst != nil {
		f.Message = c.worst.Message
	}
	f.Run, _ = filepath.Rel(h.Dir, run)
	h.Report.Findings = append(h.Report.Findings, f)
	if err := h.write(f, s.trial, "it was not made smaller yet"); err != nil {
		return err
	}
	if err := h.tell(f); err != nil {
		h.says(err.Error())
	}
	h.says(fmt.Sprintf("FOUND %s: %s", f.Property, f.Why))
	return nil
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

// Turn is a step of the story of a finding.
type Turn struct {
	At   float64 `json:"at"` // seconds since the run began
	Who  string  `json:"who"`
	What string  `json:"what"`
}

// mostTurns of a story stand in the hunt's page; the report of the run tells the rest.
const mostTurns = 40

// tell fills in the story of a finding from the run that shows it, and draws it beside its scenario.
func (h *Hunt) tell(f *Finding) error {
	in, err := h.in.OpenRoot(f.Run)
	if err != nil {
		return fmt.Errorf("the story of %s cannot be told: %w", f.Property, err)
	}
	out, err := runner.OpenIn(in)
	if err = errors.Join(err, in.Close()); err != nil {
		return fmt.Errorf("the story of %s cannot be told: %w", f.Property, err)
	}
	p := out.Result.Property(f.Property)
	if p == nil || len(p.Violations) == 0 {
		return fmt.Errorf("the story of %s cannot be told: %s does not show it", f.Property, f.Run)
	}
	v := *candidateOf(out, *p).worst
	f.Message, f.Story = v.Message, nil
	for i, s := range story.Of(out.Setup, out.Ops, v) {
		if i == mostTurns {
			f.Story = append(f.Story, Turn{At: s.At.Seconds(), Who: "…", What: "The report of the run tells the rest."})
			break
		}
		f.Story = append(f.Story, Turn{At: s.At.Seconds(), Who: s.Who, What: s.What})
	}
	picture := picture.New(out.Run, out.Setup, out.Ops, f.Property, v)
	return runner.Write(h.in, f.picture(), func(w io.Writer) error { return picture.SVG(w) })
}

// picture is the file with the picture of a finding, beside its scenario.
func (f *Finding) picture() string { return strings.TrimSuffix(f.Scenario, ".yaml") + ".svg" }

// mostOfAPicture is many times what a drawing takes.
const mostOfAPicture = 4 << 20

// pictures are the drawings of a hunt's folder, by the findings whose they are.
func (r *Report) pictures(in *os.Root) map[*Finding][]byte {
	all := map[*Finding][]byte{}
	for _, f := range r.Findings {
		if data, err := bounded.ReadIn(in, f.picture(), mostOfAPicture); err == nil {
			all[f] = data
		}
	}
	return all
}
