package reports

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/dlmtest/dlmtest/internal/golden"
)

func TestText(t *testing.T) {
	for name, r := range map[string]report{
		"redlock": gcPause(false, 14), "redis": gcPause(true, 14), "quiet": quiet(400),
	} {
		var b bytes.Buffer
		if err := Text(&b, r.run, r.setup, r.ops, r.res, TextOptions{Width: 100, Path: "runs/latest/report.html", Program: "bin/dlmtest"}); err != nil {
			t.Fatal(err)
		}
		same(t, "text-"+name+".txt", b.Bytes())
	}
}

// TestGreenIsTold: how far a green goes stands beside it, wherever a person reads of it.
func TestGreenIsTold(t *testing.T) {
	r := quiet(400)
	r.res.Properties[0].Tested = "Tested by one thing alone."
	var terminal, page bytes.Buffer
	if err := Text(&terminal, r.run, r.setup, r.ops, r.res, TextOptions{Width: 300}); err != nil {
		t.Fatal(err)
	}
	if err := HTML(&page, r.run, r.setup, r.ops, r.res); err != nil {
		t.Fatal(err)
	}
	var md, junit bytes.Buffer
	if err := errors.Join(Markdown(&md, r.run, r.setup, r.ops, r.res), JUnit(&junit, r.run, r.res)); err != nil {
		t.Fatal(err)
	}
	for where, text := range map[string]string{"terminal": terminal.String(), "page": page.String(), "Markdown": md.String(), "JUnit": junit.String()} {
		if !strings.Contains(text, "Tested by one thing alone.") {
			t.Errorf("the %s does not say it", where)
		}
	}
}

func TestTextFitsItsWidth(t *testing.T) {
	r := gcPause(true, 14)
	r.run.Command = nil
	for _, width := range []int{60, 80, 140} {
		var b bytes.Buffer
		if err := Text(&b, r.run, r.setup, r.ops, r.res, TextOptions{Width: width, Color: true}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if n := text.StringWidthWithoutEscSequences(strings.TrimRight(line, "\n")); n > width {
				t.Errorf("width %d: %d columns: %q", width, n, line)
			}
		}
	}
}

func TestTextIsNotSteered(t *testing.T) {
	r := gcPause(true, 14)
	r.run.Scenario = "\x1b[2Jhostile"
	r.res.Properties[0].Reason = "a\x1b]0;title\ab"
	var b bytes.Buffer
	if err := Text(&b, r.run, r.setup, r.ops, r.res, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(b.String(), "\x1b\a") || !utf8.Valid(b.Bytes()) {
		t.Errorf("control characters got through: %q", b.String())
	}
}

func TestStory(t *testing.T) {
	for name, r := range map[string]report{"redlock": gcPause(false, 14), "redis": gcPause(true, 14)} {
		for _, p := range r.res.Properties {
			for i, v := range p.Violations {
				var b bytes.Buffer
				for n, s := range Story(r.setup, r.ops, v) {
					fmt.Fprintf(&b, "%d %s %s@%s [%s %d] %s\n", n+1, s.At, s.Who, s.Node, s.Kind, s.Op, s.What)
				}
				same(t, fmt.Sprintf("story-%s-%s-%d.txt", name, strings.ReplaceAll(p.Name, "/", "-"), i), b.Bytes())
			}
		}
	}
}

// same compares with a file in testdata.
func same(t *testing.T, name string, got []byte) {
	t.Helper()
	golden.Compare(t, filepath.Join("testdata", name), got)
}
