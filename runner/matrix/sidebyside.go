package matrix

import (
	"context"
	"io"
	"os"
	"path"
	"path/filepath"

	"github.com/dlmtest/dlmtest/internal/bounded"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/runner"
)

// compareAll writes a page for each scenario that sets its backends side by side, by a run of each, and
// enters them into the index. A scenario that ran on one backend only has none, and a run that cannot be
// read is left out: its own report says why.
func compareAll(ctx context.Context, dir string, x *reports.Index) error {
	x.Compared = nil
	for _, scenario := range x.Scenarios {
		if ctx.Err() != nil {
			return nil // what is there can be compared by dlmtest report
		}
		c := reports.NewComparison(reports.AtFault)
		for _, b := range x.Backends {
			cell := x.Cell(scenario, b)
			if cell == nil {
				continue
			}
			if r, ok := cell.Typical(); ok {
				if own, err := bounded.Below(dir, r.Dir); err == nil {
					add(c, own, path.Join("..", r.Dir, "report.html"))
				}
			}
		}
		if len(c.Runs) < 2 {
			continue
		}
		const folder = "side-by-side"
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			return err
		}
		name := filepath.Base(scenario) + ".html"
		if err := runner.Write(filepath.Join(dir, folder), name, func(w io.Writer) error { return c.HTML(w) }); err != nil {
			return err
		}
		if x.Compared == nil {
			x.Compared = map[string]string{}
		}
		x.Compared[scenario] = path.Join(folder, name)
	}
	return nil
}

func add(c *reports.Comparison, dir, link string) {
	out, err := runner.Open(dir)
	if err != nil {
		return
	}
	c.Add(out.Run, out.Setup, out.Ops, out.Result, link)
}
