package pages

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/timeline"
)

// savedHistories are all histories of ours that lie in the tree.
func savedHistories(t *testing.T) (files []string) {
	t.Helper()
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{".git", "build", "bin", "runs", "rapid", "fuzz"}, d.Name()):
			return filepath.SkipDir
		case !d.IsDir() && strings.HasSuffix(path, ".jsonl"):
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// drawn is what a page shows of one grant, in µs since the first operation.
type drawn struct {
	lane  int
	bar   [2]int64
	valid [][2]int64
}

// bars are what is drawn of each grant, by its operation.
func (d *drawer) bars() map[int]*drawn {
	all := map[int]*drawn{}
	for n, l := range d.Lanes {
		for b := range slices.Chunk(l.Bars, 4) {
			all[int(b[2])] = &drawn{lane: n, bar: [2]int64{b[0], b[1]}}
		}
		for v := range slices.Chunk(l.Valid, 4) {
			if g := all[int(v[2])]; g != nil {
				g.valid = append(g.valid, [2]int64{v[0], v[1]})
			}
		}
	}
	return all
}

// Of each violation that says that several held a key at once, the lanes that are drawn of
// them are over each other where the judge says so: in every history that is saved here.
func TestLanesOverlapWhereTheJudgeSaysSo(t *testing.T) {
	histories, seen := 0, map[string]int{}
	for _, file := range savedHistories(t) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		setup, ops, err := history.Decode(bytes.NewReader(data))
		if err != nil {
			if strings.Contains(file, "checker/formats/") || strings.Contains(file, "runner/gate/") {
				continue // others wrote it
			}
			t.Errorf("%s: %v", file, err)
			continue
		}
		histories++
		result := checker.Judge(setup, ops)
		d := drawingOf(timeline.New(setup, ops), reports.Run{})
		bars := d.bars()
		for _, p := range result.Properties {
			for _, v := range p.Violations {
				if wrong := d.disagrees(p.Name, v, bars); wrong != "" {
					t.Errorf("%s: %s: %s: %s", file, p.Name, v.Message, wrong)
				} else if together[p.Name] {
					seen[p.Name]++
				}
			}
		}
	}
	t.Logf("%d histories, violations %v", histories, seen)
	if histories < 300 || seen["mutual-exclusion"] < 30 || seen["lease-exclusion"] < 5 || seen["rw-exclusion"] < 1 || seen["permits"] < 1 {
		t.Errorf("only %d histories with violations %v were looked at", histories, seen)
	}
}

// together are the properties whose violations say that several held a key at once.
var together = map[string]bool{"mutual-exclusion": true, "lease-exclusion": true, "rw-exclusion": true, "permits": true}

// disagrees says how the drawing of a violation differs from what the judge says of it:
// all that it names held the key at that time, or, where one acted on a grant that was
// older, its belief had met the other one and lasted until the act.
func (d *drawer) disagrees(property string, v checker.Violation, bars map[int]*drawn) string {
	if !together[property] {
		return ""
	}
	var holds []*drawn
	acted := map[*drawn]bool{}
	for _, i := range v.Operations {
		if g := bars[i]; g != nil {
			holds = append(holds, g)
		} else if g := d.ByOwner[d.Trace.Ops[i].Owner]; g != nil {
			acted[bars[g.Op]] = true
		}
	}
	if len(holds) < 2 {
		stranger := slices.ContainsFunc(v.Operations, func(i int) bool {
			op := &d.Trace.Ops[i]
			g := d.ByOwner[op.Owner]
			return op.Owner != "" && (g == nil || g.Key.Name != op.Key || g.Sent > op.Time || // or granted it later, or another key
				g.Released >= 0 && d.Trace.Ops[g.Released].Time < op.Time) // or it had given that back
		})
		if v.Possible || stranger {
			return "" // of an acquire without an answer, or of none, there is no lane
		}
		return "fewer than two grants are drawn"
	}
	at := d.at(v.At)
	within := func(s [2]int64) bool { return s[0] <= at && at <= s[1] }
	if property == "mutual-exclusion" {
		switch from, to := max(holds[0].bar[0], holds[1].bar[0]), min(holds[0].bar[1], holds[1].bar[1]); {
		case from > to:
			return fmt.Sprintf("the beliefs that are drawn miss each other by %d µs", from-to)
		case from < to && !d.drawnOver(holds[0].lane, holds[1].lane): // the history may end at that instant
			return "no overlap is drawn of them"
		}
		for g := range acted {
			if !within(g.bar) {
				return fmt.Sprintf("its belief is drawn as over %d µs before the act", at-g.bar[1])
			}
		}
		return ""
	}
	for _, g := range holds {
		if late := g.bar[0] == at && strings.Contains(v.Message, "room for it at no instant"); late {
			continue // its own lease was over when it was answered
		}
		if property == "lease-exclusion" && !slices.ContainsFunc(g.valid, within) {
			return fmt.Sprintf("a lease is drawn as valid in %v, and not at %d", g.valid, at)
		}
		if property != "lease-exclusion" && !within(g.bar) {
			return fmt.Sprintf("a belief is drawn in %v, and not at %d", g.bar, at)
		}
	}
	return ""
}

// drawnOver says whether an overlap of two lanes is drawn at all.
func (d *drawer) drawnOver(a, b int) bool {
	for o := range slices.Chunk(d.Overlaps, 5) {
		if o[0] == int64(a) && o[1] == int64(b) || o[0] == int64(b) && o[1] == int64(a) {
			return true
		}
	}
	return false
}
