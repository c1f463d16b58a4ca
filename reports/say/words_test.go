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
