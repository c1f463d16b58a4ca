package checker

import (
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/history"
)

// Whether the data of a use was saved is the worse of what became of it and of the use.
func TestAnswersOfUses(t *testing.T) {
	of := func(use string, verdicts ...Verdict) *Result {
		r := &Result{}
		for i, v := range verdicts {
			r.Properties = append(r.Properties, Property{Name: Uses[use][i].Name, Verdict: v, Reason: "It is so."})
		}
		return r
	}
	for _, c := range []struct {
		use           string
		without, with Verdict // a fence
		data, verdict Verdict
		says          string
	}{
		{history.Payment, Violated, Holds, Holds, Holds, "Yes: fencing saved it: it is so, but without: it is so."},
		{history.Payment, Holds, Holds, Holds, Holds, "Yes: it is so."},
		{history.Payment, Holds, NA, Holds, Holds, "Yes: it is so."},
		{history.Payment, Violated, NA, Holds, Violated, "No: it is so (charged-once/unfenced)."},
		{history.Payment, Violated, Violated, Holds, Violated, "No: fencing saved the table and not the use: it is so (charged-once/fenced)."},
		{history.Payment, Violated, Violated, Violated, Violated, "No: it is so (charged-once/fenced)."},
		{history.Payment, Violated, Violated, Unknown, Violated, "No: it is so (charged-once/fenced)."},
		{history.Payment, Violated, Holds, Violated, Violated, "the data"},
		{history.Payment, Violated, Unknown, Violated, Violated, "the data"},
		{history.Payment, Violated, Unknown, Holds, Unknown, "Not decided: it is so (charged-once/fenced)."},
		{history.Payment, Unknown, Unknown, Unknown, Unknown, "Not decided: it is so (charged-once/fenced)."},
		{history.Payment, Violated, Holds, Unknown, Unknown, "the data"},
		{history.Payment, Holds, NA, Unknown, Unknown, "the data"},
	} {
		setup := history.Setup{Use: history.Use{Name: c.use}}
		got := answerUse(setup, of(c.use, c.without, c.with), Answer{c.data, "the data"})
		if got.Verdict != c.verdict || got.Sentence != c.says {
			t.Errorf("%+v: %+v", c, got)
		}
	}
	data := Answer{Holds, "the data"}
	for use, r := range map[string]*Result{history.TwoKeys: of(history.TwoKeys, Violated), history.Cron: of(history.Cron)} { // nothing was written, nothing was judged
		if got := answerUse(history.Setup{Use: history.Use{Name: use}}, r, data); got != data {
			t.Errorf("%s: %+v", use, got)
		}
	}
	if got := answerUse(history.Setup{Use: history.Use{Name: history.Cache}}, of(history.Cache, Violated), data); got.Sentence != "No: it is so (one-rebuilder)." {
		t.Errorf("%+v", got)
	}
}

// What became of a kind's data is told by the properties of that kind.
func TestAnswersOfKinds(t *testing.T) {
	differs := &Result{Properties: []Property{{Name: "same-reads", Verdict: Violated, Reason: "They differ."}}}
	for _, c := range []struct {
		kind   history.Kind
		result *Result
		want   string // "": not told
	}{
		{history.ReadWrite, differs, "No: they differ."},
		{history.ReadWrite, &Result{}, ""},
		{history.ReadWrite, &Result{Properties: []Property{{Name: "same-reads", Verdict: Holds}}}, ""},
		{history.Mutex, differs, ""},
		{history.Semaphore, &Result{}, "Not asked: the holders of a semaphore write nothing."},
	} {
		if a, told := answerShared(history.Setup{Kind: c.kind}, c.result); told != (c.want != "") || !strings.HasPrefix(a.Sentence, c.want) {
			t.Errorf("%+v: %+v", c, a)
		}
	}
}
