package visible

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// hostile are texts that do something where they are shown.
var hostile = []string{
	"\x1b[31mred\x1b[0m", "\x1b]0;title\a", "\x1b]8;;http://x\x1b\\link", "a\rb", "a\bb", "\x7f", "\u009b31m", "\x9b31m", "\xc2", "\xe2\x80", "\xff\xfe",
	"user\u202egnp.exe", "\u2066a\u2069", "\u200e\u200f\u061c", "a\u200bb\u200c\u200d\ufeff\u2060\u00ad", "\U000e0001\U000e0041", "\u2028\u2029", "\u3164\u115f\uffa0", "\U000e0100",
	"::error::x", "  ::set-output name=a::b", "\u00a0::stop-commands::x", "a\n::add-mask::x", "##[error]x", "x ##vso[task.complete]", "##teamcity[x]", ":", "::", "#", "##", "###[",
}

// clean holds that nothing in a text does anything.
func clean(t *testing.T, text string, console bool) {
	t.Helper()
	for _, r := range text {
		if Hidden(r) {
			t.Errorf("%q has %U", text, r)
		}
	}
	if !utf8.ValidString(text) {
		t.Errorf("%q is no UTF-8", text)
	}
	if !console {
		return
	}
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[") || strings.Contains(line, "##vso[") || strings.Contains(line, "##teamcity[") {
			t.Errorf("%q is a command", line)
		}
	}
}

func written(t *testing.T, w *Writer, to *bytes.Buffer, pieces ...string) string {
	t.Helper()
	for _, p := range pieces {
		if n, err := w.Write([]byte(p)); n != len(p) || err != nil {
			t.Fatalf("%d of %d, %v", n, len(p), err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return to.String()
}

func TestHostile(t *testing.T) {
	for _, text := range hostile {
		var a, b, c bytes.Buffer
		clean(t, written(t, File(&a), &a, text), false)
		clean(t, written(t, Console(&b), &b, text), true)
		styled := written(t, Styled(&c), &c, text)
		for _, s := range Styles {
			styled = strings.ReplaceAll(styled, string(s), "")
		}
		clean(t, styled, true)
		clean(t, Text(text), false)
		if line := Line(text + "\nx\ty"); strings.ContainsAny(line, "\n\t") {
			t.Errorf("%q is more than a line", line)
		}
	}
}

func TestWhatIsSeenStays(t *testing.T) {
	text := "naïve ✓ 日本語 – 5 % × “x” ⚠\ufe0f\n\t::\n"
	var a, b bytes.Buffer
	if got := written(t, File(&a), &a, text); got != text {
		t.Errorf("%q", got)
	}
	if got, want := written(t, Console(&b), &b, "a::b [::1]:80 : x #1 [2]\n: y\n"), "a::b [::1]:80 : x #1 [2]\n: y\n"; got != want {
		t.Errorf("%q", got)
	}
}

func TestStyles(t *testing.T) {
	var a, b bytes.Buffer
	ours := "\x1b[31mViolated\x1b[0m \x1b[1mx\x1b[0m"
	if got := written(t, Styled(&a), &a, ours[:3], ours[3:7], ours[7:], "\x1b[8mhidden\x1b[2J\x1b"); got != ours+`\u001b[8mhidden\u001b[2J\u001b` {
		t.Errorf("%q", got)
	}
	if got := written(t, Console(&b), &b, ours); strings.Contains(got, "\x1b") {
		t.Errorf("%q", got)
	}
}

// FuzzWriter holds that nothing hidden passes, that the pieces in which a text comes do
// not matter, and that what JSON says is what it said before.
func FuzzWriter(f *testing.F) {
	for i, text := range hostile {
		f.Add([]byte(text), uint64(i))
	}
	f.Fuzz(func(t *testing.T, text []byte, cut uint64) {
		for _, kind := range []func(*bytes.Buffer) *Writer{
			func(b *bytes.Buffer) *Writer { return File(b) }, func(b *bytes.Buffer) *Writer { return Console(b) }, func(b *bytes.Buffer) *Writer { return Styled(b) }} {
			var whole, parts bytes.Buffer
			one := written(t, kind(&whole), &whole, string(text))
			var pieces []string
			for rest := string(text); len(rest) > 0; {
				cut = cut*6364136223846793005 + 1442695040888963407
				n := min(1+int(cut>>33)%5, len(rest))
				pieces, rest = append(pieces, rest[:n]), rest[n:]
			}
			if many := written(t, kind(&parts), &parts, pieces...); many != one {
				t.Fatalf("whole %q, in pieces %q", one, many)
			}
		}
		var a, b bytes.Buffer
		clean(t, written(t, File(&a), &a, string(text)), false)
		clean(t, written(t, Console(&b), &b, string(text)), true)
		said := strings.ToValidUTF8(string(text), "\ufffd")
		line, err := json.Marshal(said)
		if err != nil {
			t.Fatal(err)
		}
		var c bytes.Buffer
		var back string
		if err := json.Unmarshal([]byte(written(t, Console(&c), &c, string(line))), &back); err != nil || back != said {
			t.Fatalf("%q came back as %q, %v", said, back, err)
		}
	})
}
