package hunt

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/internal/golden"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/runner/matrix"
)

// shards are the folders of a hunt in parts.
func shards(t *testing.T, count int) (dirs []string, reports []*Report) {
	t.Helper()
	for i := 1; i <= count; i++ {
		dir, w := t.TempDir(), &world{}
		w.shows = w.renewing
		h := hunting(t, w, dir, 40)
		h.Shard = matrix.Shard{Index: i, Count: count}
		h.Report.Shard = h.Shard.String()
		if err := h.Go(t.Context()); err != nil {
			t.Fatal(err)
		}
		dirs, reports = append(dirs, dir), append(reports, h.Report)
	}
	return dirs, reports
}

// Two shards make one hunt: what was tried is added up, and one cause is one finding.
func TestMerge(t *testing.T) {
	dirs, parts := shards(t, 2)
	for _, link := range []bool{false, true} {
		out := filepath.Join(t.TempDir(), "whole")
		if _, err := Merge(matrix.Merging{Dirs: dirs, Out: out, Link: link}); err != nil {
			t.Fatal(err)
		}
		r, err := Read(out)
		if err != nil {
			t.Fatal(err)
		}
		if r.Trials != parts[0].Trials+parts[1].Trials || r.Runs != parts[0].Runs+parts[1].Runs || r.Stopped != "" || r.Shard != "" {
			t.Errorf("%+v of %+v and %+v", r, parts[0], parts[1])
		}
		if len(r.Findings) != 1 || r.Findings[0].Again <= parts[0].Findings[0].Again {
			t.Fatalf("%+v", r.Findings)
		}
		f := r.Findings[0]
		for _, file := range []string{f.Scenario, f.Run, "index.html", "index.md", "junit.xml"} {
			if _, err := os.Stat(filepath.Join(out, file)); err != nil {
				t.Error(err)
			}
		}
		if !strings.Contains(f.Note, "not believed") { // the runs of this test hold nothing
			t.Errorf("a run that shows nothing is believed: %q", f.Note)
		}
		if n := len(triedIn(t, out)); n != r.Trials {
			t.Errorf("%d trials are kept of %d", n, r.Trials)
		}
	}
}

// What does not belong together is refused, and what is missing is told: then nothing is green.
func TestMergeRefuses(t *testing.T) {
	dirs, parts := shards(t, 2)
	merge := func(change func(r *Report), dirs ...string) (*Report, error) {
		t.Helper()
		if change != nil {
			r := *parts[1]
			change(&r)
			if err := r.Save(golden.Root(t, dirs[1])); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = parts[1].Save(golden.Root(t, dirs[1])) }()
		}
		return Merge(matrix.Merging{Dirs: dirs, Out: filepath.Join(t.TempDir(), "whole")})
	}
	for want, change := range map[string]func(r *Report){
		"the seed":             func(r *Report) { r.Seed++ },
		"the lock":             func(r *Report) { r.Lock = "etcd" },
		"the version":          func(r *Report) { r.Version = "another" },
		"the command":          func(r *Report) { r.Command = []string{"dlmtest", "hunt", "--first"} },
		"is a whole hunt":      func(r *Report) { r.Shard = "" },
		"is none of shard":     func(r *Report) { r.Shard = "3/3" },
		"where hunt.json says": func(r *Report) { r.Trials += 5 },
	} {
		if _, err := merge(change, dirs...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := merge(nil, dirs[0], dirs[0]); !errors.Is(err, runner.ErrUsage) || !strings.Contains(err.Error(), "--allow-duplicates") {
		t.Errorf("one shard twice: %v", err)
	}
	r, err := merge(nil, dirs[1])
	if err != nil || r.Stopped != "shard 1 of 2 is missing" {
		t.Errorf("%v %+v", err, r)
	}
	parts[1].Findings = []*Finding{}
	if r, err = merge(func(*Report) {}, dirs[1:][0], dirs[1]); err == nil {
		t.Errorf("%+v", r)
	}
	if err := parts[1].Save(golden.Root(t, dirs[1])); err != nil {
		t.Fatal(err)
	}
	if r, err = merge(nil, dirs[1]); err != nil || r.Little == "" {
		t.Errorf("nothing was found in a part, and the whole is green: %v %+v", err, r)
	}
}
