package picture

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/reports/sample"
	"github.com/dlmtest/dlmtest/reports/story"
	"github.com/dlmtest/dlmtest/reports/timeline"
)

// pictured draws a report's first violation in both formats.
func pictured(t *testing.T, r sample.Report) (svg []byte, img image.Image) {
	t.Helper()
	name, v, _ := story.First(r.Result)
	p := New(r.Run, r.Setup, r.Ops, name, v)
	var s, b bytes.Buffer
	if err := p.SVG(&s); err != nil {
		t.Fatal(err)
	}
	if err := p.PNG(&b); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	return s.Bytes(), img
}

// elements are those of an XML text, which must be well formed, with their attributes' names.
func elements(t *testing.T, text []byte) (shape, chars string) {
	t.Helper()
	var names, all strings.Builder
	for d := xml.NewDecoder(bytes.NewReader(text)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return names.String(), all.String()
		}
		if err != nil {
			t.Fatalf("no XML: %v", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			names.WriteString(token.Name.Local + " ")
			if strings.EqualFold(token.Name.Local, "script") || strings.EqualFold(token.Name.Local, "img") {
				t.Errorf("the picture has an element %s", token.Name.Local)
			}
			for _, a := range token.Attr {
				if strings.HasPrefix(strings.ToLower(a.Name.Local), "on") || strings.Contains(a.Value, "javascript:") {
					t.Errorf("%s has the attribute %s=%q", token.Name.Local, a.Name.Local, a.Value)
				}
			}
		case xml.CharData:
			all.Write(token)
		}
	}
}

func TestPicture(t *testing.T) {
	t.Parallel() // it takes seconds
	for name, r := range map[string]sample.Report{"redis": sample.GCPause(true, 40), "redlock": sample.GCPause(false, 40), "quiet": sample.Quiet(30)} {
		svg, img := pictured(t, r)
		if dir := os.Getenv("REPORTS_OUT"); dir != "" { // to be looked at
			if err := os.WriteFile(filepath.Join(dir, "picture-"+name+".svg"), svg, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		_, text := elements(t, svg)
		for _, want := range []string{"client-1", "unfenced copy", "lease 2 s", "dlmtest", r.Run.Scenario + " on " + r.Run.Backend} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the picture does not say %q", name, want)
			}
		}
		if !bytes.Contains(svg, []byte("font-family:'Liberation Sans',Arial")) || bytes.Contains(svg, []byte("font-family:Liberation")) {
			t.Errorf("%s: a text has no font that every machine has", name)
		}
		if w := img.Bounds().Dx(); w != 2560 {
			t.Errorf("%s: the PNG is %d dots wide, want 2560", name, w)
		}
		if painted(img) < 1000 {
			t.Errorf("%s: the PNG is empty", name)
		}
	}
	svg, _ := pictured(t, sample.GCPause(true, 40))
	if _, text := elements(t, svg); !strings.Contains(text, "violation, ") || !strings.Contains(text, "token ") || !strings.Contains(text, "pause of client") {
		t.Error("the violation, the tokens or the fault are not in the picture")
	}
}

// painted counts the dots of a picture that are not white, one of a hundred looked at.
func painted(img image.Image) (n int) {
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y += 10 {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x += 10 {
			if r, g, b, _ := img.At(x, y).RGBA(); r&g&b != 0xffff {
				n++
			}
		}
	}
	return n
}

func TestPictureEscapes(t *testing.T) {
	t.Parallel() // it takes seconds
	r := sample.GCPause(true, 14)
	sample.Fill(&r, sample.Hostile)
	svg, _ := pictured(t, r)
	if _, text := elements(t, svg); !strings.Contains(text, "</text></svg>") {
		t.Error("hostile text is not shown as it is")
	}
}

// A picture of anything is a picture, also where the results do not fit the history.
func TestPictureOfStrangeRuns(t *testing.T) {
	t.Parallel() // it takes seconds
	long := sample.GCPause(true, 3000)
	many := sample.GCPause(true, 14)
	many.Setup.Clients = nil
	for i := range many.Ops {
		if many.Ops[i].Type != "note" && i%2 == 0 {
			many.Ops[i].Node += strings.Repeat("-very-long", i%40)
		}
	}
	odd := sample.GCPause(true, 14)
	odd.Result.Properties[0].Violations = []checker.Violation{{Number: 1, Message: strings.Repeat("word ", 400), Operations: []int{-1, 1 << 40}, At: -1 << 62}}
	for name, r := range map[string]sample.Report{"nothing": {}, "long": long, "many": many, "odd": odd} {
		svg, img := pictured(t, r)
		elements(t, svg)
		if len(svg) > 400_000 || img.Bounds().Dy() > 4000 {
			t.Errorf("%s: %d bytes of SVG, %v", name, len(svg), img.Bounds())
		}
	}
}

// A fault of several victims names them all where there is room.
func TestVictims(t *testing.T) {
	all := func(victims ...string) *stretch {
		s := &stretch{Picture: &Picture{tracks: &timeline.Tracks{}}, window: timeline.Span{From: 0, To: 10}}
		for i, v := range victims {
			s.tracks.Faults = append(s.tracks.Faults, timeline.Fault{Span: timeline.Span{From: int64(i), To: 5}, Id: 1, Victim: v})
		}
		s.tracks.Faults = append(s.tracks.Faults, timeline.Fault{Span: timeline.Span{From: 1, To: 2}, Id: 2, Victim: "client-9"},
			timeline.Fault{Span: timeline.Span{From: 20, To: 30}, Id: 1, Victim: "client-8"})
		return s
	}
	for _, c := range []struct {
		victims []string
		want    string
	}{
		{[]string{"redlock-3"}, "redlock-3"},
		{[]string{"redlock-3", "redlock-1", "redlock-3"}, "redlock-1 and redlock-3"},
		{[]string{"redlock-3", "redlock-1", "redlock-2"}, "redlock-1 and 2 others"},
	} {
		if got := all(c.victims...).victims(1); got != c.want {
			t.Errorf("%v: %q, want %q", c.victims, got, c.want)
		}
	}
}
