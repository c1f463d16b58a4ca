package text

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/dlmtest/dlmtest/reports/sample"
)

func TestText(t *testing.T) {
	for name, r := range map[string]sample.Report{
		"redlock": sample.GCPause(false, 14), "redis": sample.GCPause(true, 14), "quiet": sample.Quiet(400),
	} {
		var b bytes.Buffer
		if err := Write(&b, r.Run, r.Setup, r.Ops, r.Result, Options{Width: 100, Path: "runs/latest/report.html", Program: "bin/dlmtest"}); err != nil {
			t.Fatal(err)
		}
		sample.Same(t, "text-"+name+".txt", b.Bytes())
	}
}

func TestTextFitsItsWidth(t *testing.T) {
	r := sample.GCPause(true, 14)
	r.Run.Command = nil
	for _, width := range []int{60, 80, 140} {
		var b bytes.Buffer
		if err := Write(&b, r.Run, r.Setup, r.Ops, r.Result, Options{Width: width, Color: true}); err != nil {
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
	r := sample.GCPause(true, 14)
	r.Run.Scenario = "\x1b[2Jhostile"
	r.Result.Properties[0].Reason = "a\x1b]0;title\ab"
	var b bytes.Buffer
	if err := Write(&b, r.Run, r.Setup, r.Ops, r.Result, Options{}); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(b.String(), "\x1b\a") || !utf8.Valid(b.Bytes()) {
		t.Errorf("control characters got through: %q", b.String())
	}
}
