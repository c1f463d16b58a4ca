package picture

import (
	"regexp"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/reports/sample"
	"github.com/dlmtest/dlmtest/reports/sheet"
	"github.com/dlmtest/dlmtest/reports/story"
)

// The picture in a page takes the page's colours and leads nowhere, and there is no lane for a fence
// where the lock gives no token.
func TestPictureInPage(t *testing.T) {
	for _, tokens := range []bool{true, false} {
		r := sample.GCPause(tokens, 14)
		name, v, ok := story.First(r.Result)
		if !ok {
			t.Fatal("no violation")
		}
		drawing, err := New(r.Run, r.Setup, r.Ops, name, v).InPage()
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
			if name = map[string]string{"faultwash": "fault", "lens": "accent"}[name]; name != "" && !strings.Contains(sheet.Style, "--"+name+":") {
				t.Errorf("the page has no colour %s", name)
			}
		}
		if got := strings.Contains(text, ">fenced copy<"); got != tokens {
			t.Errorf("tokens %v: a lane for the fenced copy: %v", tokens, got)
		}
	}
}
