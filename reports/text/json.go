package text

import (
	"encoding/json"
	"io"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/figures"
	"github.com/dlmtest/dlmtest/reports/remedies"
	"github.com/dlmtest/dlmtest/reports/story"
	"github.com/dlmtest/dlmtest/reports/timeline"
)

// ReportFormat is the version of the JSON of a report.
const ReportFormat = 1

// JSON writes what the report of a run says, for machines, on one line. The history
// is not in it.
func JSON(w io.Writer, run reports.Run, setup history.Setup, ops []history.Op, r checker.Result) error {
	t := timeline.New(setup, ops)
	doc := struct {
		Format  int            `json:"dlmtest_report"`
		Run     reports.Run    `json:"run"`
		Setup   history.Setup  `json:"setup"`
		Result  checker.Result `json:"result"`
		Prose   remedies.Prose `json:"prose"`
		Figures figures.Key    `json:"figures"`
		StoryOf int            `json:"story_of,omitempty"` // the number of the violation
		Story   []story.Step   `json:"story,omitempty"`
	}{Format: ReportFormat, Run: run.Known(setup), Setup: setup, Result: r, Prose: remedies.Of(t, r), Figures: figures.KeyOf(t, timeline.NewTracks(t), r)}
	if _, v, ok := story.First(r); ok {
		doc.StoryOf, doc.Story = v.Number, story.New(t).Tell(v)
	}
	return json.NewEncoder(w).Encode(doc)
}
