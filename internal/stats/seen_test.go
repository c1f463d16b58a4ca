package stats

import "testing"

func TestRate(t *testing.T) {
	if got := (Rate{19, 20}).String(); got != "19 of 20 (95 %: 76.3 % to 99.2 %)" {
		t.Error(got)
	}
}
