package matrix

import (
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/bounded"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/pages"
)

// closeKilled makes the index of a matrix that was killed a whole one: the runs that
// were going on get their folders, and what never began is not run.
func closeKilled(in *os.Root, x *pages.Index) {
	for folder, run := range strangers(in, *x) {
		if waiting := waitingFor(x, run); len(waiting) == 1 { // else nobody can tell which it is
			waiting[0].Dir = folder
		}
	}
	for i := range x.Cells {
		for n := range x.Cells[i].Runs {
			if r := &x.Cells[i].Runs[n]; r.Verdict == reports.Waiting && r.Dir == "" {
				r.Verdict = reports.NotRun
			}
		}
	}
	x.Ended, x.Stopped = true, "This matrix was killed before its end."
}

// strangers are the runs in a folder that the index does not name yet. No link is followed.
func strangers(in *os.Root, x pages.Index) map[string]reports.Run {
	named := map[string]bool{}
	for _, c := range x.Cells {
		for _, r := range c.Runs {
			named[filepath.Clean(r.Dir)] = true
		}
	}
	found := map[string]reports.Run{}
	entries, _ := fs.ReadDir(in.FS(), ".") // the index has just been read from there
	for _, e := range entries {
		name := path.Join(e.Name(), "run.json")
		if info, err := in.Lstat(name); !e.IsDir() || named[e.Name()] || err != nil || !info.Mode().IsRegular() {
			continue
		}
		var run reports.Run
		if data, err := bounded.ReadIn(in, name, mostOfAnIndex); err == nil && bounded.Values(name, data) == nil && json.Unmarshal(data, &run) == nil {
			found[e.Name()] = run
		}
	}
	return found
}

// waitingFor are the runs of the index that a folder may be of.
func waitingFor(x *pages.Index, run reports.Run) (all []*pages.CellRun) {
	library := run.Library
	if run.Repeat != nil && len(run.Repeat.Adapter) > 0 {
		library = "adapter"
	} else if run.Repeat != nil && run.Repeat.Library != "" {
		library = run.Repeat.Library // with its version
	}
	column := history.LockName(run.Backend, library)
	for i := range x.Cells {
		c := &x.Cells[i]
		if c.Scenario != run.Scenario || c.Backend != pages.Column(column, c.Named) {
			continue
		}
		for n := range c.Runs {
			if r := &c.Runs[n]; r.Verdict == reports.Waiting && r.Dir == "" && r.Seed == run.Seed {
				all = append(all, r)
			}
		}
	}
	return all
}
