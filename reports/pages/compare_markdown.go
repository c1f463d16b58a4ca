package pages

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/dlmtest/dlmtest/reports/say"
	"github.com/dlmtest/dlmtest/reports/story"
	"github.com/dlmtest/dlmtest/reports/text"
)

// Markdown writes the comparison for a pull request.
func (c *Comparison) Markdown(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, text.MarkdownSign+"### %s\n\n", text.Escaped(c.title()))
	for _, s := range c.sums() {
		fmt.Fprintf(out, "- %s\n", text.Escaped(s))
	}
	for _, u := range c.Unlike {
		fmt.Fprintf(out, "- **They differ in more than the lock:** %s\n", text.Escaped(u))
	}
	for _, r := range c.Runs {
		for _, d := range r.Doubts {
			fmt.Fprintf(out, "- **Doubt about %s:** %s\n", text.Escaped(r.Name), text.Escaped(d))
		}
	}
	row := func(cells ...string) { fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | ")) }
	head, rule := []string{""}, []string{"---"}
	for _, r := range c.Runs {
		head, rule = append(head, text.Escaped(r.Name)), append(rule, "---")
	}
	fmt.Fprintln(out)
	row(head...)
	row(rule...)
	for _, p := range c.Properties {
		cells := []string{text.Escaped(p.Name)}
		for _, v := range p.Of {
			if v == nil {
				cells = append(cells, "")
			} else {
				cells = append(cells, say.Mark(v.Verdict)+" "+v.Verdict.String())
			}
		}
		row(cells...)
	}
	for _, f := range c.figures() {
		row(append([]string{f.Name}, f.Values...)...)
	}
	fmt.Fprintf(out, "\nTimes with a sign count from %s.\n",
		map[Align]string{AtFault: "the first fault of each run, or from its begin if it had none", AtStart: "the begin of each run"}[c.Align])
	for _, r := range c.Runs {
		if name, v, ok := story.First(r.result); ok {
			text.FoldedStory(out, r.Name+": "+name, v, r.story)
		}
	}
	return out.Flush()
}
