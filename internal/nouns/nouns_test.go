package nouns

import "testing"

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 runs", 1: "1 run", 2: "2 runs", 1000: "1000 runs"} {
		if got := Count(n, "run"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := Irregular(1, "property", "properties") + ", " + Irregular(3, "property", "properties"); got != "1 property, 3 properties" {
		t.Error(got)
	}
}
