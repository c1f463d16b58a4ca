package reports

import (
	"regexp"
	"strings"
	"testing"
)

// The picture in a page takes the page's colours and leads nowhere, and there is no lane for a fence
// where the lock gives no token.
func TestPictureInPage(t *testing.T) {
	for _, tokens := range []bool{true, false} {
		r := gcPause(tokens, 14)
		name, v, ok := First(r.res)
		if !ok {
			t.Fatal("no violation")
		}
		drawing, err := newView(r.setup, r.ops).picture(r.run, name, v).inPage()
		if err != nil {
			t.Fatal(err)
		}
		text := string(drawing)
		if !strings.HasPrefix(text, "<svg ") || !strings.HasSuffix(strings.TrimSpace(text), "</svg>") {
			t.Errorf("it is no drawing: %.80s … %s", text, text[max(0, len(text)-40):])
		}
		for _, bad := range []string{`https?:`, `#[0-9A-Fa-f]{6}`, `xmlns`} {
			if found := regexp.MustCompile(bad).FindString(text); found != "" {
				t.Errorf("the drawing holds %q", found)
			}
		}
		for name := range tones {
			if name = map[string]string{"faultwash": "fault", "lens": "accent"}[name]; name != "" && !strings.Contains(style, "--"+name+":") {
				t.Errorf("the page has no colour %s", name)
			}
		}
		if got := strings.Contains(text, ">fenced copy<"); got != tokens {
			t.Errorf("tokens %v: a lane for the fenced copy: %v", tokens, got)
		}
	}
}

func TestFirstSentences(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"One. Two.\nThree. Four.", "One. Two."}, {"One of 1.5 s.  Two", "One of 1.5 s. Two"}, {"", ""}, {"Only one.", "Only one."},
	} {
		if got := firstSentences(c.text, 2); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

// What happened to the data is told before what let it happen.
func TestDamageIsToldFirst(t *testing.T) {
	r := gcPause(true, 14)
	if name, _, _ := First(r.res); name != "no-lost-update/unfenced" {
		t.Errorf("told first is %s", name)
	}
}
