package reports

import (
	"encoding/json"
	"io"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
)

// ReportFormat is the version of the JSON of a report.
const ReportFormat = 1

// JSON writes what the report of a run says, for machines, on one line. The history
// is not in it.
func JSON(w io.Writer, run Run, setup history.Setup, ops []history.Op, r checker.Result) error {
	t := newView(setup, ops)
	doc := struct {
		Format  int            `json:"dlmtest_report"`
		Run     Run            `json:"run"`
		Setup   history.Setup  `json:"setup"`
		Result  checker.Result `json:"result"`
		Prose   Prose          `json:"prose"`
		Figures KeyFigures     `json:"figures"`
		StoryOf int            `json:"story_of,omitempty"` // the number of the violation
		Story   []Step         `json:"story,omitempty"`
	}{Format: ReportFormat, Run: run.known(setup), Setup: setup, Result: r, Prose: t.explain(r), Figures: keyFigures(t, newTracks(t), r)}
	if _, v, ok := First(r); ok {
		doc.StoryOf, doc.Story = v.Number, t.story(v)
	}
	return json.NewEncoder(w).Encode(doc)
}

// IndexJSON writes an index as it stands in index.json.
func IndexJSON(w io.Writer, x Index) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(x)
}

// Numbered finds a violation by its number; 0 is the one to tell first.
func Numbered(r checker.Result, number int) (property string, v checker.Violation, ok bool) {
	if number == 0 {
		return First(r)
	}
	for _, p := range r.Properties {
		for _, v := range p.Violations {
			if v.Number == number {
				return p.Name, v, true
			}
		}
	}
	return "", v, false
}
