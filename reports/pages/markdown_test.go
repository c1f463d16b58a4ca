package pages

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	source "github.com/yuin/goldmark/text"

	"github.com/dlmtest/dlmtest/reports/sample"
	"github.com/dlmtest/dlmtest/reports/text"
)

// kinds counts the elements of a text as GitHub reads it.
func kinds(t *testing.T, markdown []byte) (shape string, count map[string]int) {
	t.Helper()
	var b strings.Builder
	count = map[string]int{}
	doc := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(source.NewReader(markdown))
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if _, ok := n.(*ast.Text); entering && !ok {
			count[n.Kind().String()]++
			fmt.Fprintln(&b, n.Kind())
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String(), count
}

func markdownOf(t *testing.T, r sample.Report) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := text.Markdown(&b, r.Run, r.Setup, r.Ops, r.Result); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestMarkdown(t *testing.T) {
	r := sample.GCPause(true, 14)
	r.Result.Doubts = []string{"The host's clock moved."}
	md := markdownOf(t, r)
	sample.Same(t, "gc-pause-redis.md", md)
	_, count := kinds(t, md)
	if count[east.KindTable.String()] != 1 || count[east.KindTableRow.String()] != len(r.Result.Properties) || count[ast.KindHTMLBlock.String()] != 3 {
		t.Errorf("%v", count)
	}
	var b bytes.Buffer
	if err := comparison(AtFault, r, sample.Quiet(14)).Markdown(&b); err != nil {
		t.Fatal(err)
	}
	sample.Same(t, "compare.md", b.Bytes())
}

// Text from outside stays text: no HTML, no link, no mention, no further row or column.
func TestMarkdownEscapes(t *testing.T) {
	for name, render := range map[string]func(r sample.Report) []byte{
		"run": func(r sample.Report) []byte { return markdownOf(t, r) },
		"comparison": func(r sample.Report) []byte {
			var b bytes.Buffer
			if err := comparison(AtFault, r, sample.Quiet(14)).Markdown(&b); err != nil {
				t.Fatal(err)
			}
			return b.Bytes()
		},
	} {
		p, h := sample.GCPause(true, 14), sample.GCPause(true, 14)
		sample.Fill(&p, "plain")
		sample.Fill(&h, sample.Hostile)
		want, _ := kinds(t, render(p))
		md := render(h)
		got, count := kinds(t, md)
		if got != want {
			t.Errorf("%s: hostile text changed the elements:\n%s\nwant\n%s\nof\n%s", name, got, want, md)
		}
		for _, kind := range []ast.NodeKind{ast.KindLink, ast.KindAutoLink, ast.KindImage, ast.KindRawHTML} {
			if count[kind.String()] > 0 {
				t.Errorf("%s: %d %s", name, count[kind.String()], kind)
			}
		}
		for line := range strings.Lines(string(md)) {
			if !strings.HasPrefix(line, "Repeat it:") && strings.Contains(line, "@everyone") {
				t.Errorf("%s mentions somebody: %s", name, line)
			}
		}
	}
}

func TestInCode(t *testing.T) {
	for _, s := range []string{"a", "`", "``", "a`b``c", "`x`", "a\nb", "<b>", ""} {
		source := []byte("x " + text.InCode(s) + " y")
		if _, count := kinds(t, source); s != "" && count[ast.KindCodeSpan.String()] != 1 {
			t.Errorf("%q became %q: %v", s, source, count)
		}
	}
}
