package checker

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/history"
)

// judgedAs makes a result in which the named properties have these verdicts.
func judgedAs(verdicts map[string]Verdict) *Result {
	r := &Result{Verdict: NA}
	for _, c := range Checkers {
		if v, ok := verdicts[c.Name]; ok {
			r.Properties = append(r.Properties, Property{Name: c.Name, Verdict: v, Reason: "It is so."})
		}
	}
	return r
}

// Whether the data of a use was saved is the worse of what became of its table and of what it did in
// the world, without a fence and with one.
func TestAnswersOfUses(t *testing.T) {
	for _, c := range []struct {
		once, onceFenced, table, tableFenced Verdict // charged-once and no-lost-update
		want                                 string
	}{
		{Violated, Holds, Violated, Holds, "no Yes: it is so."},
		{Holds, Holds, Holds, Holds, "yes Yes: it is so."},
		{Violated, NA, Holds, NA, "no Not asked: it is so."},
		{Violated, Violated, Holds, Holds, "no No: it is so; the fence protected the table, not the effect outside of it (charged-once/fenced)."},
		{Violated, Violated, Violated, Violated, "no No: it is so, in spite of the fence (charged-once/fenced)."},
		{Violated, Violated, Violated, Unknown, "no No: it is so, in spite of the fence (charged-once/fenced)."},
		{Holds, Holds, Violated, Violated, "no No: it is so, in spite of the fence (no-lost-update/fenced)."},
		{Violated, Unknown, Holds, Holds, "no Not decided: it is so (charged-once/fenced)."},
		{Unknown, Holds, Unknown, Unknown, "unknown Not decided: it is so (no-lost-update/fenced)."},
		{Unknown, Holds, Holds, Holds, "unknown Yes: it is so."},
	} {
		r := judgedAs(map[string]Verdict{"charged-once/unfenced": c.once, "charged-once/fenced": c.onceFenced,
			"no-lost-update/unfenced": c.table, "no-lost-update/fenced": c.tableFenced})
		r.conclude(history.Setup{Promise: history.Promise{Leased: true, Token: true}, Use: history.Use{Name: history.Payment}})
		if got := r.Answers.Unfenced.String() + " " + r.Sentences.Fenced; got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
		if strings.Contains(r.Sentences.Unfenced, "fence protected") {
			t.Errorf("%+v: without a fence: %s", c, r.Sentences.Unfenced)
		}
	}
}

// Which properties answer which question, told as a table: each alone is violated.
func TestWhichAnswersWhat(t *testing.T) {
	leased := history.Promise{Leased: true, Token: true}
	for _, c := range []struct {
		promise  history.Promise
		property string
		want     Answers
	}{
		{leased, "lease-exclusion", Answers{Promise: No}},
		{leased, "mutual-exclusion", Answers{}},
		{history.Promise{Token: true}, "mutual-exclusion", Answers{Promise: No}},
		{history.Promise{Token: true, Idles: true}, "mutual-exclusion", Answers{}},
		{leased, "no-lost-update/unfenced", Answers{Unfenced: No}},
		{leased, "no-lost-update/fenced", Answers{Fenced: No}},
		{leased, "fenced-writes", Answers{Fenced: No}},
		{leased, "same-reads", Answers{Unfenced: No}},
		{leased, "one-leader", Answers{Unfenced: No}},
		{leased, "availability", Answers{WentOn: No}},
		{leased, "deadlock-freedom", Answers{Promise: No, WentOn: No}},
		{leased, "no-deadlock", Answers{WentOn: No}},
	} {
		verdicts := map[string]Verdict{}
		for _, name := range Names() {
			verdicts[name] = Holds
		}
		verdicts[c.property] = Violated
		r := judgedAs(verdicts)
		r.Counts.Faults = 1
		r.conclude(history.Setup{Promise: c.promise})
		got, want := r.Answers, c.want.With(Answers{Yes, Yes, Yes, Yes, r.Answers.AsExpected})
		for _, a := range []*Reply{&want.Promise, &want.Unfenced, &want.Fenced, &want.WentOn} {
			if *a == NotKnown { // what is not named above is green
				*a = Yes
			}
		}
		want.AsExpected = got.AsExpected
		if got != want {
			t.Errorf("%+v, %s: %+v, want %+v", c.promise, c.property, got, want)
		}
	}
}

// What is open is never yes, and only what nothing could answer is n/a.
func TestAnswersThatAreNone(t *testing.T) {
	leased := history.Setup{Promise: history.Promise{Leased: true}}
	for _, c := range []struct {
		name     string
		faults   int
		verdicts map[string]Verdict
		expected map[string]Expectation
		want     string
	}{
		{"nothing was judged", 0, nil, nil, "n/a unknown unknown n/a"},
		{"no fence", 0, map[string]Verdict{"no-lost-update/unfenced": Holds, "no-lost-update/fenced": NA}, nil, "n/a yes n/a n/a"},
		{"a fence that nobody tried", 1, map[string]Verdict{"no-lost-update/unfenced": Holds, "no-lost-update/fenced": Holds, "fenced-writes": Unknown}, nil, "n/a yes yes n/a"},
		{"open", 1, map[string]Verdict{"lease-exclusion": Unknown, "availability": Unknown, "deadlock-freedom": Holds}, nil, "unknown unknown unknown unknown"},
		{"a majority was away", 1, map[string]Verdict{"availability": NA, "deadlock-freedom": Holds}, nil, "yes unknown unknown n/a"},
		{"no fault", 0, map[string]Verdict{"availability": NA, "deadlock-freedom": Holds}, nil, "yes unknown unknown yes"},
		{"two clients, and no fault that explains it", 0, map[string]Verdict{"lease-exclusion": Holds, "mutual-exclusion": Violated}, nil, "unknown unknown unknown n/a"},
		{"two clients, as the scenario says", 0, map[string]Verdict{"lease-exclusion": Holds, "mutual-exclusion": Violated},
			map[string]Expectation{"mutual-exclusion": {Verdict: Violated}}, "yes unknown unknown n/a"},
	} {
		r := judgedAs(c.verdicts)
		r.Counts.Faults, r.Expected = c.faults, c.expected
		r.conclude(leased)
		a := r.Answers
		if got := fmt.Sprint(a.Promise, a.Unfenced, a.Fenced, a.WentOn); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	part := judgedAs(map[string]Verdict{"lease-exclusion": Violated})
	part.conclude(history.Setup{Shows: "lease-exclusion"})
	if part.Answers != Skipped() {
		t.Errorf("a part of a history: %+v", part.Answers)
	}
}

func TestAsExpected(t *testing.T) {
	leased, forever, idles := history.Promise{Leased: true, Token: true}, history.Promise{}, history.Promise{Idles: true}
	expect := func(words ...any) map[string]Expectation {
		all := map[string]Expectation{}
		for i := 0; i < len(words); i += 2 {
			all[words[i].(string)] = Expectation{Verdict: words[i+1].(Verdict)}
		}
		return all
	}
	broken := map[string]Verdict{"lease-exclusion": Holds, "mutual-exclusion": Violated, "no-lost-update/unfenced": Violated, "no-lost-update/fenced": Holds}
	with := func(name string, v Verdict) map[string]Verdict {
		all := maps.Clone(broken)
		all[name] = v
		return all
	}
	for _, c := range []struct {
		name     string
		promise  history.Promise
		faults   int
		verdicts map[string]Verdict
		expected map[string]Expectation
		doubts   []string
		differs  string // "": none
		want     bool
	}{
		{"a lock with leases lets a stopped client act", leased, 1, broken, nil, nil, "", true},
		{"with no fault nothing excuses it", leased, 0, broken, nil, nil, "mutual-exclusion no-lost-update/unfenced", false},
		{"a scenario without a fault may say that it comes", leased, 0, broken, expect("mutual-exclusion", Violated), nil, "", true},
		{"nor has one whose server ends idle sessions, with no fault", idles, 0, broken, nil, nil, "mutual-exclusion no-lost-update/unfenced", false},
		{"which lets a stopped client act as a lease does", idles, 1, broken, nil, nil, "", true},
		{"or has all wait, if the timeout is long", idles, 1, map[string]Verdict{"availability": Violated}, nil, nil, "", true},
		{"a lock without leases has no such excuse", forever, 1, broken, nil, nil, "mutual-exclusion no-lost-update/unfenced", false},
		{"but everybody waits for its holder", forever, 1, map[string]Verdict{"mutual-exclusion": Holds, "availability": Violated}, nil, nil, "", true},
		{"who has leases must not wait longer", leased, 1, map[string]Verdict{"availability": Violated}, nil, nil, "availability", false},
		{"the fence lost data", leased, 1, with("no-lost-update/fenced", Violated), nil, nil, "no-lost-update/fenced", false},
		{"a card checks no token", leased, 1, with("charged-once/fenced", Violated), nil, nil, "", true},
		{"the service broke its word", leased, 1, with("lease-exclusion", Violated), nil, nil, "lease-exclusion", false},
		{"as the scenario says", leased, 1, with("lease-exclusion", Violated), expect("lease-exclusion", Violated), nil, "", true},
		{"the scenario says that it holds", leased, 1, broken, expect("mutual-exclusion", Holds), nil, "mutual-exclusion", false},
		{"what should be seen did not come", leased, 1, map[string]Verdict{"mutual-exclusion": Holds}, expect("mutual-exclusion", Violated), nil, "mutual-exclusion", false},
		{"it was not asked at all", leased, 1, broken, expect("one-leader", Holds), nil, "one-leader", false},
		{"open, and the scenario wants an answer", leased, 1, with("lease-exclusion", Unknown), expect("lease-exclusion", Holds), nil, "lease-exclusion", false},
		{"open, and nobody says that it may be", leased, 1, with("lease-exclusion", Unknown), nil, nil, "", false},
		{"open, as the scenario says", leased, 1, with("fenced-writes", Unknown), expect("fenced-writes", Unknown), nil, "", true},
		{"nothing comes late where all wait for the holder", forever, 1, map[string]Verdict{"availability": Violated, "fenced-writes": Unknown}, nil, nil, "", true},
		{"a lock with leases must try its fence", leased, 1, with("fenced-writes", Unknown), nil, nil, "", false},
		{"in doubt", leased, 1, broken, nil, []string{"A fault was not seen."}, "", false},
		{"nothing was judged", leased, 1, nil, nil, nil, "", false},
		{"all holds", leased, 0, map[string]Verdict{"lease-exclusion": Holds}, nil, nil, "", true},
	} {
		r := judgedAs(c.verdicts)
		r.Counts.Faults, r.Doubts = c.faults, c.doubts
		Expect(history.Setup{Promise: c.promise}, r, c.expected)
		var differs []string
		for _, d := range r.Differs {
			differs = append(differs, d.Property)
		}
		if got := fmt.Sprint(differs); got != "["+c.differs+"]" || r.Answers.AsExpected != c.want {
			t.Errorf("%s: %v %s, want %v [%s]", c.name, r.Answers.AsExpected, got, c.want, c.differs)
		}
	}
}

// Of several runs no beats unknown beats yes beats n/a, and a run that is doubted is green nowhere.
func TestAnswersOfSeveralRuns(t *testing.T) {
	order := []Reply{NotAsked, Yes, NotKnown, No}
	for i, a := range order {
		for k, b := range order {
			both := Answers{a, a, a, a, true}.With(Answers{b, b, b, b, i == k})
			want := order[max(i, k)]
			if both != (Answers{want, want, want, want, i == k}) {
				t.Errorf("%s and %s: %+v", a, b, both)
			}
		}
	}
	if got := (Answers{No, Yes, NotAsked, NotKnown, true}).Doubted(); got != (Answers{No, NotKnown, NotKnown, NotKnown, false}) {
		t.Errorf("doubted: %+v", got)
	}
}

// What scripts rely on, letter by letter.
func TestAnswersInJSON(t *testing.T) {
	const want = `{"promise":"yes","data_unfenced":"no","data_fenced":"n/a","went_on":"unknown","as_expected":true}`
	text, err := json.Marshal(Answers{Yes, No, NotAsked, NotKnown, true})
	if err != nil || string(text) != want {
		t.Errorf("%s, %v", text, err)
	}
	var back Answers
	if err := json.Unmarshal([]byte(want), &back); err != nil || back != (Answers{Yes, No, NotAsked, NotKnown, true}) {
		t.Errorf("%+v, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`{"promise":"perhaps"}`), &back); err == nil {
		t.Error("it reads an answer that there is not")
	}
}

// Each property that a result can hold answers a question, or is left to the client.
func TestEveryPropertyAnswers(t *testing.T) {
	var none []string
	for _, c := range Checkers {
		if len(c.answers(history.Promise{Leased: true})) == 0 {
			none = append(none, c.Name)
		}
	}
	if want := []string{"mutual-exclusion", "rw-exclusion", "permits"}; !slices.Equal(none, want) {
		t.Errorf("no question is answered by %v, want %v", none, want)
	}
}
