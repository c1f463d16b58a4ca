package models

import (
	"fmt"
	"testing"

	"github.com/dlmtest/dlmtest/history"
)

// The first violations are kept, in their order, also those that are found late.
func TestFound(t *testing.T) {
	f := newFound(3)
	for n, at := range []int{5, 3, 9, 4, 5, 7, 1} {
		f.add(at, "", nil, func() string { return fmt.Sprint(n) })
	}
	got := ""
	for _, v := range f.kept {
		got += fmt.Sprint(v.at, "/", v.Message, " ")
	}
	if want := "1/6 3/1 4/3 "; got != want || f.count != 7 {
		t.Errorf("%d, kept %s, want %s", f.count, got, want)
	}
	f = newFound(2)
	for n, at := range []int{5, 6, 6} { // of two at one event the one found first
		f.add(at, "", nil, func() string { return fmt.Sprint(n) })
	}
	if f.kept[1].Message != "1" {
		t.Errorf("kept %+v", f.kept)
	}
}

func TestSilent(t *testing.T) {
	for _, c := range []struct {
		f               F
		typ             history.Type
		value           string
		strict, lenient bool
	}{
		{Write, history.Fail, "a", true, true}, {Read, history.Fail, "", true, true}, {CAS, history.Fail, "a", false, true},
		{Read, history.Info, "", true, true}, {Write, history.Info, "a", false, false}, {CAS, history.Info, "a", false, false},
		{Read, history.OK, "", false, true}, {Read, history.OK, "a", false, false}, {Write, history.OK, "", false, false},
	} {
		strict, lenient := Options{}, Options{Lenient: true}
		if got, more := strict.silent(c.f, c.typ, c.value), lenient.silent(c.f, c.typ, c.value); got != c.strict || more != c.lenient {
			t.Errorf("%s %s %q: %v, lenient %v", c.f, c.typ, c.value, got, more)
		}
	}
}

// A piece shows its own violation and no other one.
func TestShows(t *testing.T) {
	m := Models[0]
	events := script("1 acquire\n1 ok acquire\n2 acquire\n2 ok acquire\n1 release\n1 ok release\n2 release\n2 ok release\n3 acquire\n3 ok acquire\n4 acquire\n4 ok acquire")
	r, err := decide(m, Options{}, events)
	if err != nil || len(r.Violations) != 2 {
		t.Fatal(err, r)
	}
	mini := NewMinimizer(t.Context(), nil, m, Options{}, events)
	p := mini.piece("")
	for i, v := range r.Violations {
		for j, ops := range [][]Op{p.ops[:2], p.ops[4:]} {
			if got := mini.shows(p, v, ops); got != (i == j) {
				t.Errorf("violation %d in piece %d: %v", i, j, got)
			}
		}
	}
	try, _ := Named("try")
	events = script("1 try\n1 fail try\n2 try\n2 fail try")
	if r, err = decide(try, Options{}, events); err != nil || len(r.Violations) != 2 {
		t.Fatal(err, r)
	}
	mini = NewMinimizer(t.Context(), nil, try, Options{}, events)
	other := r.Violations[1]
	other.Events = r.Violations[0].Events
	if p := mini.piece(""); !mini.shows(p, r.Violations[1], p.ops) || mini.shows(p, other, p.ops) {
		t.Error("of a failed try the same operations must be named")
	}
}

// Where Porcupine gives up on every part of what it found illegal, the last
// operation is named.
func TestSearchThatGivesUpHalfWay(t *testing.T) {
	asked := 0
	o := Options{Ask: func(string, Options, []Op) string {
		if asked++; asked == 1 {
			return Illegal
		}
		return "gave up: tired"
	}}
	m, _ := Named("register")
	r, err := decide(m, o, script("1 write v=a\n1 ok write v=a\n2 read\n2 ok read v=b"))
	if err != nil || r.Verdict != Violated || r.Violations[0].Events[1].Line != 4 {
		t.Errorf("%v, %+v", err, r)
	}
}

// Of violations at one event the one that was found first comes first.
func TestFoundAtOneEvent(t *testing.T) {
	f := newFound(9)
	for n := range 3 {
		f.add(5, "", nil, func() string { return fmt.Sprint(n) })
	}
	if got := f.kept[0].Message + f.kept[1].Message + f.kept[2].Message; got != "012" {
		t.Error(got)
	}
}

func TestVerdicts(t *testing.T) {
	for _, v := range []Verdict{Unknown, Holds, Violated, NA} {
		text, _ := v.MarshalText()
		var back Verdict = 99
		if err := back.UnmarshalText(text); err != nil || back != v {
			t.Errorf("%s: %v, %v", text, err, back)
		}
		if Merge(v, v) != v || Merge(v, NA) != v || Merge(NA, v) != v || Merge(Violated, v) != Violated || Merge(v, Violated) != Violated {
			t.Errorf("%s does not merge as it should", v)
		}
	}
	if Merge(Holds, Unknown) != Unknown || Merge(Unknown, Holds) != Unknown {
		t.Error("unknown beats holds")
	}
	if new(Verdict).UnmarshalText([]byte("maybe")) == nil {
		t.Error("a strange verdict is taken")
	}
}

func TestSet(t *testing.T) {
	var s set64
	for i := range uint64(1000) {
		if s.has(2*i + 1) {
			t.Fatalf("%d is there before it was added", i)
		}
		s.add(2*i + 1)
		s.add(2*i + 1)
	}
	for i := range uint64(1000) {
		if !s.has(2*i + 1) {
			t.Fatalf("%d of 1000 is lost", i)
		}
	}
	if s.n != 1000 || s.has(2001) {
		t.Errorf("%d are there", s.n)
	}
}
