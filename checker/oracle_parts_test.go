package checker

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dlmtest/dlmtest/checker/models"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// What is made of Porcupine's answers.

// answering asks nobody: it says what each model is told, in order.
func answering(told *[]string, says map[string]string) putting {
	return func(model string, _ models.Options, _ []models.Op) string {
		*told = append(*told, model)
		return says[model]
	}
}

// runOf is a run of some keys.
func runOf(names ...string) *run {
	r := &run{Trace: &trace.Trace{ByKey: map[string]*trace.Key{}}}
	for i, name := range names {
		k := &trace.Key{Name: name, Index: i}
		r.ByKey[name] = k
		r.keys = append(r.keys, &keyLog{Key: k})
	}
	return r
}

// posing asks about the models of each key.
func posing(byKey map[string][]string) posed {
	return posed{of: func(_ *run, k *keyLog) (all []question) {
		for _, model := range byKey[k.Name] {
			all = append(all, question{model: model})
		}
		return all
	}}
}

// The first question that is not answered by "legal" decides.
func TestPut(t *testing.T) {
	r := runOf("k")
	says := map[string]string{"a": models.Legal, "b": models.Illegal, "c": "gave up: it is late", "d": models.Legal}
	for _, c := range []struct {
		key    string
		models []string
		want   string
		told   string
	}{
		{"k", []string{"a", "b", "d"}, models.Illegal, "[a b]"}, {"k", []string{"a", "c", "b"}, says["c"], "[a c]"}, {"k", []string{"a", "d"}, models.Legal, "[a d]"},
		{"k", nil, "gave up: its times cannot be converted", "[]"}, {"l", []string{"a"}, "gave up: nothing happened on the key", "[]"},
	} {
		var told []string
		said, last := r.put(c.key, posing(map[string][]string{"k": c.models}), answering(&told, says))
		if said != c.want || fmt.Sprint(told) != c.told || len(told) > 0 && last.model != told[len(told)-1] {
			t.Errorf("%s, %v: %q after %v, the last %q", c.key, c.models, said, told, last.model)
		}
	}
}

// A key that is illegal makes the whole so, whatever is said of others; of what
// holds the first question is asked alone.
func TestWhole(t *testing.T) {
	r := runOf("k", "l", "m")
	says := map[string]string{"good": models.Legal, "bad": models.Illegal, "late": "gave up: it is late"}
	for _, c := range []struct {
		k, l, m string
		verdict Verdict
		want    string
	}{
		{"good", "good", "good", Holds, Confirmed}, {"good", "good", "good", Violated, Contradicted},
		{"good", "bad", "good", Violated, Confirmed}, {"good", "bad", "good", Holds, Contradicted},
		{"late", "good", "good", Holds, says["late"]}, {"good", "late", "good", Violated, says["late"]},
		{"late", "bad", "good", Violated, Confirmed}, {"bad", "late", "good", Violated, Confirmed}, {"good", "bad", "late", Holds, Contradicted},
		{"good bad", "good", "good", Holds, Confirmed}, {"good bad", "good", "good", Violated, Confirmed},
	} {
		var told []string
		q := posing(map[string][]string{"k": strings.Fields(c.k), "l": strings.Fields(c.l), "m": strings.Fields(c.m)})
		if got := r.whole(q, c.verdict, answering(&told, says)); got != c.want {
			t.Errorf("%+v: %q after %v", c, got, told)
		}
	}
}

// Of the whole it is asked what is decided and has a model; the rest says why not.
func TestConfirmWhole(t *testing.T) {
	b := newBuilder()
	turns(b)
	setup, ops := b.done()
	result := Result{Properties: []Property{
		{Name: "mutual-exclusion", Verdict: Holds}, {Name: "lease-exclusion", Verdict: Violated}, {Name: "fencing-monotonic", Verdict: Unknown},
		{Name: "honest-claims", Verdict: Violated}, {Name: "recovery", Verdict: NA}, {Name: "mutual-exclusion", Verdict: NA},
	}}
	confirmWhole(t.Context(), setup, ops, &result, here)
	for i, want := range []string{Confirmed, Contradicted, "not asked: there is no verdict to confirm", "not asked: it has no model of the whole", "", ""} {
		if got := result.Properties[i].Oracle; got != want {
			t.Errorf("%s: %q, want %q", result.Properties[i].Name, got, want)
		}
	}
	if len(result.Doubts) != 1 || !strings.Contains(result.Doubts[0], "contradicts the verdict of lease-exclusion") {
		t.Errorf("%v", result.Doubts)
	}
}

// Only so many violations of a property are put to Porcupine, and only those that
// have a minimal history; what is not asked costs nothing and says why. Only what is
// confirmed is drawn.
func TestConfirmOnlySome(t *testing.T) {
	m, v := smallZombie(t)
	v.Minimal = FindMinimal(t.Context(), m.setup, m.ops, "mutual-exclusion", v)
	with := func(n int, change func(*Violation)) (all []Violation) {
		for range n {
			w := *v
			change(&w)
			all = append(all, w)
		}
		return all
	}
	kept := func(*Violation) {}
	result := func() *Result {
		exclusion := with(1, func(v *Violation) { v.Minimal = nil })
		exclusion = append(exclusion, with(1, func(v *Violation) { v.Minimal = &Minimal{Why: "There is none."} })...)
		exclusion = append(exclusion, with(oracleAsked+1, func(v *Violation) { v.Possible = true })...)
		exclusion = append(exclusion, with(oracleAsked+1, kept)...)
		return &Result{Properties: []Property{{Name: "mutual-exclusion", Violations: exclusion}, {Name: "recovery", Violations: with(oracleAsked+1, kept)}}}
	}
	for says, want := range map[string]string{models.Illegal: Confirmed, models.Legal: Contradicted, "gave up: it is late": "gave up: it is late"} {
		got, drawn := result(), 0
		oracle := Oracle{Self: []string{"/bin/sh", "-c", "read asked; case $asked in draw*) echo '<page>';; *) echo '" + says + "';; esac"}}
		oracle.Save = func(int, string) (string, error) { drawn++; return "drawing", nil }
		mustConfirm(t, oracle, m.setup, m.ops, got)
		count := map[string]int{}
		for _, p := range got.Properties {
			for _, v := range p.Violations {
				count[v.Oracle]++
			}
		}
		if (drawn == oracleAsked) != (want == Confirmed) || (drawn == 0) != (want != Confirmed) || len(count) != 4 || count[""] != 2+1 || count["not asked: the violation is only possible"] != oracleAsked+1 || count[want] != oracleAsked || count["not asked: "+noTime] != oracleAsked+1 {
			t.Errorf("%s: %d drawn, %v", says, drawn, count)
		}
	}
}

// A drawing that cannot be saved is an error.
func TestDrawingIsSaved(t *testing.T) {
	m, v := smallZombie(t)
	v.Minimal = FindMinimal(t.Context(), m.setup, m.ops, "mutual-exclusion", v)
	broken := errors.New("the disk is full")
	result := &Result{Properties: []Property{{Name: "mutual-exclusion", Violations: []Violation{*v}}}}
	oracle := child
	oracle.Save = func(int, string) (string, error) { return "", broken }
	if err := Confirm(t.Context(), oracle, m.setup, m.ops, result); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

// A child without a question says so, and one without a limit of memory answers none.
func TestOracleMain(t *testing.T) {
	out, err := exec.Command("/proc/self/exe", "oracle").CombinedOutput()
	if err == nil || !strings.HasPrefix(string(out), "gave up: cannot read the question: EOF") {
		t.Errorf("%v: %s", err, out)
	}
	defer func() { setLimit = unix.Setrlimit }()
	setLimit = func(int, *unix.Rlimit) error { return errors.New("not here") }
	var said bytes.Buffer
	in := strings.NewReader("mutex\n{}")
	if code := OracleMain(in, &said); code != 0 || said.String() != "gave up: no memory limit: not here\n" || in.Len() != len("mutex\n{}") {
		t.Errorf("%d: %s", code, said.String())
	}
}

// Who was looked for after a kill and not found dead believes on.
func TestMissedKill(t *testing.T) {
	for _, missed := range []bool{false, true} {
		b := newBuilder()
		b.grantOf(0, 10*ms, "client-1", 1)
		for i, phase := range []history.Phase{history.Begin, history.Observed, history.Heal} {
			if missed && phase == history.Observed {
				phase = history.Missed
			}
			b.op(20*ms+int64(i), "client-1", history.Note, history.Fault, "").Fault = &history.FaultNote{ID: 1, Kind: "kill", Target: "client-1", Phase: phase}
		}
		if g := newRun(b.done()).Grants[0]; g.Killed == missed {
			t.Errorf("missed %v: killed %v", missed, g.Killed)
		}
	}
}
