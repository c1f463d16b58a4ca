package matrix

import (
	"context"
	"errors"
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
// read is left out: its own report says why. A run lies below the folder of the first part that has its name, or below in.
func compareAll(ctx context.Context, in *os.Root, x *pages.Index, parts ...part) error {
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
				if own, err := below(in, r.Dir, parts); err == nil {
					add(c, own, path.Join("..", r.Dir, "report.html"))
					_ = own.Close() // it was read
				}
			}
		}
		if len(c.Runs) < 2 {
			continue
		}
		const folder = "side-by-side"
		own, err := bounded.Made(in, folder) // a matrix that somebody sent may have a link there
		if err != nil {
			return err
		}
		name := filepath.Base(scenario) + ".html"
		err = runner.Write(own, name, func(w io.Writer) error { return c.HTML(w) })
		if err = errors.Join(err, own.Close()); err != nil {
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
func below(in *os.Root, run string, parts []part) (*os.Root, error) {
	for _, p := range parts {
		if within, ok := strings.CutPrefix(run, p.name+"/"); ok {
			from, err := os.OpenRoot(p.dir)
			if err != nil {
				return nil, err
			}
			defer func() { _ = from.Close() }() // the run is open
			return bounded.Below(from, within)
		}
	}
	return bounded.Below(in, run)
}

func add(c *pages.Comparison, in *os.Root, link string) {
	out, err := runner.OpenIn(in)
	if err != nil {
		return
	}
	c.Add(out.Run, out.Setup, out.Ops, out.Result, link)
}
