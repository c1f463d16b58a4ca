package corpus

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/reports/text"
)

// notes is what no run can say: what was tried where a bug could not be found again.
//
//go:embed notes.md
var notes string

// Markdown writes the track record as a page.
func Markdown(w io.Writer, r Record) error {
	var b strings.Builder
	b.WriteString("# Known bugs, found again\n\n" +
		"Published bugs of real lock libraries, unmodified and pinned by version. Each is found in the affected\n" +
		"version by an ordinary scenario, and not in the control, where there is one. This page is written by\n" +
		"`dlmtest corpus --markdown` from `docs/corpus.json`, which `dlmtest corpus NAME --record docs/corpus.json`\n" +
		"keeps; no figure of it is written by hand. Found and held count runs; the time to detection is the median\n" +
		"from the first operation of a client to the first violation.\n")
	for _, e := range Entries {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n", e.Name, sentence(e.Anomaly))
		row := func(name, is string) { fmt.Fprintf(&b, "- %s: %s\n", name, is) }
		row("reference", e.Reference)
		row("affected", "`"+e.Affected.String()+"`")
		if e.Control != (Pin{}) {
			row("control", "`"+e.Control.String()+"`")
		} else {
			row("control", "none: "+cmp.Or(e.Fixed, "it was never fixed"))
		}
		row("scenario", "`"+e.Scenario+"`")
		row("property", "`"+e.Property+"`")
		row("again", "`dlmtest corpus "+e.Name+"`, or the affected version alone: `"+e.Affected.Command(e)+"`")
		r.tracks(&b, e)
	}
	b.WriteString("\n" + notes)
	_, err := io.WriteString(w, b.String())
	return err
}

func (r Record) tracks(b *strings.Builder, e Entry) {
	if !slices.ContainsFunc(r.Tracks, func(t Track) bool { return t.Entry == e.Name }) {
		b.WriteString("- never run for this page\n")
		return
	}
	b.WriteString("\n| runtime | found in affected | time to detection | held in control | last reproduced |\n|---|---|---|---|---|\n")
	for _, t := range r.Tracks {
		if t.Entry != e.Name {
			continue
		}
		when := "–"
		if t.Affected.Found > 0 {
			when = fmt.Sprintf("%.1f s", t.Affected.Detection)
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", text.Escaped(t.Runtime), t.Affected.of(t.Affected.Found), when,
			cmp.Or(t.Control.of(t.Control.Held), "–"), text.Escaped(t.Date)) // a record may be somebody else's
	}
}

// of is a share of the runs, and what the others were.
func (s Side) of(n int) string {
	if s.Runs == 0 {
		return ""
	}
	share := fmt.Sprintf("%d of %d", n, s.Runs)
	if s.Inconclusive > 0 {
		share += fmt.Sprintf(", %d inconclusive", s.Inconclusive)
	}
	if s.Failed > 0 {
		share += fmt.Sprintf(", %d without a verdict", s.Failed)
	}
	return share
}

func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] + "." }
