package reports

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/text"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestText(t *testing.T) {
	for name, r := range map[string]report{
		"redlock": gcPause(false, 14), "redis": gcPause(true, 14), "quiet": quiet(400),
	} {
		var b bytes.Buffer
		if err := Text(&b, r.run, r.setup, r.ops, r.res, TextOptions{Width: 100, Path: "runs/latest/report.html", Program: "bin/dlmtest"}); err != nil {
			t.Fatal(err)
		}
		golden(t, "text-"+name+".txt", b.Bytes())
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
				golden(t, fmt.Sprintf("story-%s-%s-%d.txt", name, strings.ReplaceAll(p.Name, "/", "-"), i), b.Bytes())
			}
		}
	}
}

// golden compares with a file in testdata, or writes it with -update.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test -update writes it anew):\n%s", path, got)
	}
}
