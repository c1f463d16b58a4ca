package scenarios

import (
	"strings"
	"testing"
)

// TestPatience: a scenario has patient holders, impatient ones or, without a word, both.
func TestPatience(t *testing.T) {
	for word, want := range map[string][2]bool{"": {true, false}, Both: {true, false}, Patient: {true, true}, Impatient: {false, false}} {
		s := Scenario{Patience: word}
		if got := [2]bool{s.Patient(0), s.Patient(1)}; got != want {
			t.Errorf("%q: the first clients are %v, want %v", word, got, want)
		}
	}
	s, err := Load("gc-pause")
	if err != nil {
		t.Fatal(err)
	}
	for word := range Patiences {
		if s.Patience = word; s.Validate() != nil {
			t.Errorf("%q: %v", word, s.Validate())
		}
	}
	s.Patience = "patent"
	if err := s.Validate(); err == nil || !strings.Contains(err.Error(), `patience: unknown patience "patent"; did you mean "patient"`) {
		t.Error(err)
	}
}
