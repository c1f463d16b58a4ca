package pages

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/reports/sample"
	"github.com/dlmtest/dlmtest/reports/story"
)

// A story says of each step what the history has: token, lease, fault, both copies.
func TestStepsHaveTheirDetails(t *testing.T) {
	r := sample.GCPause(true, 14)
	steps := story.Of(r.Setup, r.Ops, r.Result.Properties[0].Violations[0])
	seen := map[story.Kind]story.Step{}
	for _, s := range steps {
		seen[s.Kind] = s
	}
	late := seen[story.StepZombie]
	if late.Token != 7 || late.Left == nil || *late.Left >= 0 || late.Unfenced.What != "accepted" || late.Fenced.What != "refused" {
		t.Errorf("the late write has token %d, left %v, copies %+v and %+v", late.Token, late.Left, late.Unfenced, late.Fenced)
	}
	if late.Fenced.Before != late.Fenced.After || late.Unfenced.After == late.Unfenced.Before {
		t.Errorf("the late write left the copies at %+v and %+v", late.Unfenced, late.Fenced)
	}
	if g := seen[story.StepGrant]; g.Left == nil || *g.Left <= time.Second {
		t.Errorf("a grant has %v left of its lease", g.Left)
	}
	if end := seen[story.StepEnd]; end.Fault != "pause" || end.Left == nil || *end.Left != 0 {
		t.Errorf("the end of the lease, %v left, has the fault %q", end.Left, end.Fault)
	}
	if f := seen[story.StepFault]; f.Token != 0 || f.Left != nil {
		t.Error("a fault has a lease")
	}
	setup, ops := sample.Recorded(t, "gc-pause-postgres")
	for _, s := range story.Of(setup, ops, checker.Violation{Key: "key-1", Operations: []int{5, 14, 16}, At: 6148696460635}) {
		if s.Left != nil {
			t.Errorf("a lock without leases has %v left at %q", *s.Left, s.What)
		}
	}
}

// many is a result with more violations than a page has room for; the firmest is the last.
func many(r sample.Report, n int) checker.Result {
	v := r.Result.Properties[0].Violations[0]
	res := r.Result
	p := checker.Property{Name: "mutual-exclusion", Verdict: checker.Violated, Reason: "many", Unlisted: 7}
	for i := range n {
		v.Number, v.Possible, v.Message = i+1, i < n-1, fmt.Sprintf("violation number %d", i+1)
		p.Violations = append(p.Violations, v)
	}
	res.Properties = []checker.Property{p}
	return res
}

func TestPageListsABoundedNumber(t *testing.T) {
	r := sample.GCPause(true, 14)
	r.Result = many(r, 200)
	page := render(t, r)
	h, _ := unpacked(t, page)
	if len(h.Stories) != mostListed+1 || h.Told != mostListed {
		t.Fatalf("%d violations can be chosen and number %d is told, want %d and the last", len(h.Stories), h.Told, mostListed+1)
	}
	told := 0
	for _, s := range h.Stories {
		if len(s.Steps) > 0 {
			told++
		}
	}
	if told != storiesTold+1 || len(h.Stories[mostListed].Steps) == 0 {
		t.Errorf("%d stories are told, want %d", told, storiesTold+1)
	}
	for _, want := range []string{"violation 200, mutual-exclusion", "and 149 more", "156 more are not here", `value="200" selected`} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

func TestNoStory(t *testing.T) {
	for want, r := range map[string]checker.Result{
		"Nothing was recorded": {}, "too little was seen": {Verdict: checker.Unknown}, "No violation was found, so": {Verdict: checker.Holds},
	} {
		var ops []history.Op
		if want[0] != 'N' || strings.HasPrefix(want, "No ") {
			ops = make([]history.Op, 1)
		}
		if got := noStory(ops, r); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A history that breaks every rule is drawn all the same: it may be why somebody looks.
func TestPageOfGarbage(t *testing.T) {
	t.Parallel() // it takes seconds
	rng := rand.New(rand.NewPCG(3, 5))
	for range 300 {
		r := sample.GCPause(rng.IntN(2) == 0, 14)
		for range 40 {
			i, j := rng.IntN(len(r.Ops)), rng.IntN(len(r.Ops))
			a, b := &r.Ops[i], &r.Ops[j]
			switch rng.IntN(8) {
			case 0:
				a.Time = rng.Int64() - rng.Int64()
			case 1:
				a.Type, b.F = b.Type, a.F
			case 2:
				a.Owner, a.Value = b.Owner, b.Value
			case 3:
				*a = *b
			case 4:
				a.Deadline, a.Mono = rng.Int64(), rng.Int64()
			case 5:
				a.Fault = &history.FaultNote{ID: rng.IntN(3), Kind: "kill", Target: b.Node, Phase: history.Phase(b.Type)}
			case 6:
				a.Unfenced, a.Fenced = nil, b.Unfenced
			case 7:
				a.Process, a.Node = b.Process, ""
			}
		}
		r.Result.Properties[0].Violations[0].Operations = []int{-1, rng.IntN(200), 1 << 40}
		unpacked(t, render(t, r))
	}
}
