package say

import "testing"

func TestFirstSentences(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"One. Two.\nThree. Four.", "One. Two."}, {"One of 1.5 s.  Two", "One of 1.5 s. Two"}, {"", ""}, {"Only one.", "Only one."},
	} {
		if got := FirstSentences(c.text, 2); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

func TestUpper(t *testing.T) {
	for text, want := range map[string]string{"no contention": "No contention", "client-1 holds it": "client-1 holds it", "1 of 2": "1 of 2", "": ""} {
		if got := Upper(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
