package reports

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// kinds counts the elements of a text as GitHub reads it.
func kinds(t *testing.T, source []byte) (shape string, count map[string]int) {
	t.Helper()
	var b strings.Builder
	count = map[string]int{}
	doc := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
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

func markdownOf(t *testing.T, r report) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Markdown(&b, r.run, r.setup, r.ops, r.res); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestMarkdown(t *testing.T) {
	r := gcPause(true, 14)
	r.res.Doubts = []string{"The host's clock moved."}
	md := markdownOf(t, r)
	same(t, "gc-pause-redis.md", md)
	_, count := kinds(t, md)
	if count[east.KindTable.String()] != 1 || count[east.KindTableRow.String()] != len(r.res.Properties) || count[ast.KindHTMLBlock.String()] != 3 {
		t.Errorf("%v", count)
	}
	var b bytes.Buffer
	if err := comparison(AtFault, r, quiet(14)).Markdown(&b); err != nil {
		t.Fatal(err)
	}
	same(t, "compare.md", b.Bytes())
}

// Text from outside stays text: no HTML, no link, no mention, no further row or column.
func TestMarkdownEscapes(t *testing.T) {
	for name, render := range map[string]func(r report) []byte{
		"run": func(r report) []byte { return markdownOf(t, r) },
		"comparison": func(r report) []byte {
			var b bytes.Buffer
			if err := comparison(AtFault, r, quiet(14)).Markdown(&b); err != nil {
				t.Fatal(err)
			}
			return b.Bytes()
		},
	} {
		p, h := gcPause(true, 14), gcPause(true, 14)
		fill(&p, "plain")
		fill(&h, hostile)
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
		source := []byte("x " + InCode(s) + " y")
		if _, count := kinds(t, source); s != "" && count[ast.KindCodeSpan.String()] != 1 {
			t.Errorf("%q became %q: %v", s, source, count)
		}
	}
}
