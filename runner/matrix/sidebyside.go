package matrix

import (
	"context"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/dlmtest/dlmtest/internal/bounded"
	"github.com/dlmtest/dlmtest/reports/pages"
	"github.com/dlmtest/dlmtest/runner"
)

// compareAll writes a page for each scenario that sets its backends side by side, by a run of each, and
// enters them into the index. A scenario that ran on one backend only has none, and a run that cannot be
// read is left out: its own report says why. A run lies below the folder of the first part that has its name, or below dir.
func compareAll(ctx context.Context, dir string, x *pages.Index, parts ...part) error {
	x.Compared = nil
	for _, scenario := range x.Scenarios {
		if ctx.Err() != nil {
			return nil // what is there can be compared by dlmtest report
		}
		c := pages.NewComparison(pages.AtFault)
		for _, b := range x.Backends {
			cell := x.Cell(scenario, b)
			if cell == nil {
				continue
			}
			if r, ok := cell.Typical(); ok {
				if own, err := below(dir, r.Dir, parts); err == nil {
					add(c, own, path.Join("..", r.Dir, "report.html"))
				}
			}
		}
		if len(c.Runs) < 2 {
			continue
		}
		const folder = "side-by-side"
		own, err := bounded.Below(dir, folder) // a matrix that somebody sent may have a link there
		if err == nil {
			err = os.MkdirAll(own, 0o755)
		}
		if err != nil {
			return err
		}
		name := filepath.Base(scenario) + ".html"
		if err := runner.Write(own, name, func(w io.Writer) error { return c.HTML(w) }); err != nil {
			return err
		}
		if x.Compared == nil {
			x.Compared = map[string]string{}
		}
		x.Compared[scenario] = path.Join(folder, name)
	}
	return nil
}

// below is where a run lies: a link to a part is followed, as a user has named the part, and none within it.
func below(dir, run string, parts []part) (string, error) {
	for _, p := range parts {
		if within, ok := strings.CutPrefix(run, p.name+"/"); ok {
			return bounded.Below(p.dir, within)
		}
	}
	return bounded.Below(dir, run)
}

func add(c *pages.Comparison, dir, link string) {
	out, err := runner.Open(dir)
	if err != nil {
		return
	}
	c.Add(out.Run, out.Setup, out.Ops, out.Result, link)
}
