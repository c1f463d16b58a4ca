package runner

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/internal/bounded"
	"github.com/dlmtest/dlmtest/reports"
)

// DecodeRun reads the run.json of a name.
func DecodeRun(name string, data []byte) (run reports.Run, err error) {
	if format := bounded.Format(data, "dlmtest_run"); format > reports.Format {
		return run, fmt.Errorf("%s: written by a newer dlmtest (format %d, this one knows %d); update dlmtest", name, format, reports.Format)
	}
	if err := bounded.JSON(name, data, &run); err != nil {
		return reports.Run{}, err
	}
	for field, n := range map[string]int{"command": len(run.Command), "doubts": len(run.Doubts)} {
		if err := bounded.List(name, field, n); err != nil {
			return reports.Run{}, err
		}
	}
	switch run.State {
	case "", reports.Running, reports.Ended, reports.Killed:
		return run, nil
	}
	return reports.Run{}, fmt.Errorf("%s: state %q: want %s, %s or %s", name, run.State, reports.Running, reports.Ended, reports.Killed)
}

// DecodeResults reads the results.json of a name.
func DecodeResults(name string, data []byte) (checker.Result, error) {
	var r struct {
		checker.Result
		Figures jsontext.Value `json:"figures"` // for scripts: nothing here reads them
	}
	if err := bounded.JSON(name, data, &r); err != nil {
		return checker.Result{}, err
	}
	if err := bounded.List(name, "doubts", len(r.Doubts)); err != nil {
		return checker.Result{}, err
	}
	seen := map[string]bool{}
	for i, p := range r.Properties {
		_, known := checker.Find(p.Name)
		switch {
		case !known:
			return checker.Result{}, fmt.Errorf("%s: /properties/%d: %q is no property; dlmtest list properties has all", name, i, p.Name)
		case seen[p.Name]:
			return checker.Result{}, fmt.Errorf("%s: /properties/%d: %q is judged twice", name, i, p.Name)
		}
		seen[p.Name] = true
	}
	return r.Result, nil
}
