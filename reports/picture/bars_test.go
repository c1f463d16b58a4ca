package picture

import (
	"bytes"
	"slices"
	"testing"

	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/internal/shapes"
	"github.com/dlmtest/dlmtest/reports"
)

// A picture has a bounded number of shapes, however many grants and faults a history has.
func TestPictureOfMuchIsSmall(t *testing.T) {
	t.Parallel()
	for _, s := range shapes.All {
		if !slices.Contains([]string{"grants that never end", "never end, losses by process", "all clash on one key"}, s.Name) {
			continue
		}
		setup, ops := s.Make(30_000)
		var svg bytes.Buffer
		if err := New(reports.Run{}, setup, ops, "", checker.Violation{}).SVG(&svg); err != nil {
			t.Fatal(err)
		}
		if svg.Len() > 6<<20 {
			t.Errorf("%s: %d kB", s.Name, svg.Len()>>10)
		}
	}
}

// Bars of which others cover nearly all are not drawn, and no part of a row that had a bar is empty.
func TestBarsCoverWhatTheyCovered(t *testing.T) {
	b := &bars{pen: &picturePen{c: vgsvg.New(pictureWide, 100)}, tone: "wait", drawn: map[[2]int]bool{}}
	const n = 200_000
	for i := range n {
		b.draw(float64(i)*800/n, 10, 1, 0)
	}
	if len(b.drawn) > 2*manyBars+int(900/hair) || b.reach < 809 {
		t.Errorf("%d bars, up to %.1f", len(b.drawn), b.reach)
	}
}
