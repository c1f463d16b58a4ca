package pages

import (
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/sample"
	"github.com/dlmtest/dlmtest/reports/text"
)

func TestKilledRunLeavesOutWhatIsNotKnown(t *testing.T) {
	r := sample.Report{Run: reports.Run{ID: "20261121T090000.000_gc-pause_redis", Interrupted: "The run was killed before its end."}}
	r.Setup = history.Setup{Promise: history.Promise{Backend: "redis"}, Lease: sample.Lease}
	var b strings.Builder
	if err := text.Write(&b, r.Run, r.Setup, nil, checker.Result{}, text.Options{}); err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(b.String(), "\n\n")
	if want := "?  a run on redis: inconclusive\n   lease 2 s"; head != want {
		t.Errorf("the text begins %q, want %q", head, want)
	}
	page := string(render(t, r))
	for _, bad := range []string{"took", "seed 0", "0001-01-01", "µs", "<title> on"} {
		if head, _, _ := strings.Cut(page, "</header>"); strings.Contains(head[strings.Index(head, "</style>"):], bad) || strings.Contains(page, "<title> on") {
			t.Errorf("the head of the page says %q of a run of which it is not known", bad)
		}
	}
}
