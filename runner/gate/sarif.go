package gate

import (
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/dlmtest/dlmtest/checker"
)

// home is the address that SARIF wants of a tool.
const home = "https://github.com/dlmtest/dlmtest"

// SARIF writes what is not as it should be, for code scanning: a result for each
// property that failed, that is inconclusive, or that is a known weakness (which is
// suppressed with its reason). A result is about a line of the gate's file, as a lock
// in another repository has none.
func SARIF(w io.Writer, r Report) error {
	run := sarif.NewRunWithInformationURI("dlmtest", home)
	run.Tool.Driver.WithVersion(r.Version)
	for _, c := range checker.Checkers {
		run.AddRule(c.Name).WithDescription(c.About)
	}
	for _, c := range r.Cells {
		for _, j := range c.Properties {
			if level, ok := j.level(); ok {
				run.AddResult(j.sarif(c, r, level))
			}
		}
	}
	log := sarif.NewReport()
	log.AddRun(run)
	return log.PrettyWrite(w)
}

// level is how bad a judgement is in SARIF's words; none for what is as it should be.
func (j Judgement) level() (level string, ok bool) {
	switch {
	case j.State == Fail:
		return "error", true
	case j.State == Pass && j.Want != Weakness, j.State == Skipped, j.State == Stopped:
		return "", false
	case j.State == Pass:
		return "note", true
	}
	return "warning", true
}

func (j Judgement) sarif(c CellReport, r Report, level string) *sarif.Result {
	uri := (&url.URL{Path: filepath.ToSlash(r.File)}).EscapedPath()
	place := sarif.NewPhysicalLocation().WithArtifactLocation(sarif.NewSimpleArtifactLocation(uri)).
		WithRegion(sarif.NewSimpleRegion(max(j.Line, 1), max(j.Line, 1)))
	var said []string
	if run, ok := c.proof(j); ok && j.State == Fail {
		said = happened(run, j.Property)
	}
	result := sarif.NewRuleResult(j.Property).WithLevel(level).
		WithMessage(sarif.NewTextMessage(unlinked(strings.Join(append([]string{c.Name + ": " + j.Property + ": " + j.Why}, said...), "\n")))).
		AddLocation(sarif.NewLocationWithPhysicalLocation(place)).
		WithPartialFingerprints(map[string]string{"dlmtest/cell/property": c.Name + "/" + j.Property})
	if j.Want == Weakness && j.State == Pass && !j.Gone {
		result.AddSuppression(sarif.NewSuppression().WithKind("external").WithJustification(unlinked(j.Reason + " (" + j.Link + ")")))
	}
	return result
}

// unlinked has no [text](address), which readers of SARIF make a link of: what a lock or a key is called is somebody else's.
func unlinked(text string) string { return strings.ReplaceAll(text, "](", "] (") }
