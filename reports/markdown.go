package reports

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
)

// MarkdownSign begins each Markdown file of dlmtest. Readers do not see it.
const MarkdownSign = "<!-- dlmtest -->\n"

// mostInCell is how long a reason in a table of Markdown is at most, in letters.
const mostInCell = 240

// Escaped makes a text that Markdown shows as it is: no markup, no HTML, no link and
// no mention of anybody, in a table, too.
func Escaped(s string) string {
	return markdown.Replace(plainText(strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ").Replace(strings.TrimSpace(s))))
}

// markdown escapes what would end a cell of a table, mark text up, link or mention.
// The word joiner is not seen on the page, and keeps apart what would be taken for an
// address; it is written by its number, as what is not seen in a file misleads.
var markdown = strings.NewReplacer(`\`, `\\`, "|", `\|`, "\n", " ", "<", "&lt;", ">", "&gt;", "&", "&amp;", "*", `\*`,
	"_", `\_`, "`", "\\`", "[", `\[`, "]", `\]`,
	"~", `\~`, "$", `\$`, "@", "@&#8288;", "://", ":&#8288;//", "www.", "www&#8288;.", "#", `\#`)

// Markdown writes a run for a pull request: the verdicts, and the story of the first
// violation folded away.
func Markdown(w io.Writer, run Run, setup history.Setup, ops []history.Op, r checker.Result) error {
	run = run.known(setup)
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, MarkdownSign+"### %s %s: %s\n\n", mark(r.Verdict), Escaped(run.name()), Escaped(overall(setup, r)))
	if facts := run.facts("2006-01-02 15:04:05 MST"); len(facts) > 0 {
		fmt.Fprintf(out, "%s\n\n", Escaped(strings.Join(facts, ", ")))
	}
	for _, q := range questions(setup, r) {
		fmt.Fprintf(out, "- %s **%s %s.** %s\n", sign(q.Reply), q.Question, q.words(), Escaped(afterReply(q)))
	}
	if r.Early != "" {
		fmt.Fprintf(out, "- %s\n", Escaped(r.Early))
	}
	for _, d := range allDoubts(run, r) {
		fmt.Fprintf(out, "- **Doubt:** %s\n", Escaped(d))
	}
	for _, s := range ServerEnds(ops) {
		fmt.Fprintf(out, "- %s\n", Escaped(s))
	}
	for _, s := range Silences(setup.Promise) {
		fmt.Fprintf(out, "- %s\n", Escaped("What it does not tell: "+s.Lacks+": "+s.Means+"."))
	}
	fmt.Fprintf(out, "\n| | property | why |\n|---|---|---|\n")
	for _, p := range r.Properties {
		fmt.Fprintf(out, "| %s %s | %s | %s |\n", mark(p.Verdict), p.Verdict, Escaped(p.Name),
			Escaped(strings.TrimSpace(clipped(p.Reason, mostInCell)+" "+p.Tested)))
	}
	if err := MarkdownStory(out, "", setup, ops, r); err != nil {
		return err
	}
	if len(run.Command) > 0 {
		fmt.Fprintf(out, "\nRepeat it: %s\n", InCode(shell(run.Command)))
	}
	return out.Flush()
}

// MarkdownStory folds the story of the first violation of a run away; of is what the
// run is called among others, or "".
func MarkdownStory(w io.Writer, of string, setup history.Setup, ops []history.Op, r checker.Result) error {
	name, v, ok := First(r)
	if !ok {
		return nil
	}
	if of != "" {
		name = of + ": " + name
	}
	out := bufio.NewWriter(w)
	foldedStory(out, name, v, Story(setup, ops, v))
	return out.Flush()
}

func foldedStory(out io.Writer, name string, v checker.Violation, steps []Step) {
	fmt.Fprintf(out, "\n<details><summary>How it came about: violation %d, %s</summary>\n\n%s\n\n", v.Number, inHTML(name), Escaped(v.Message))
	for i, s := range steps {
		fmt.Fprintf(out, "%d. %s **%s** %s\n", i+1, seconds(int64(s.At)), Escaped(s.Who), Escaped(s.What))
	}
	fmt.Fprintf(out, "\n</details>\n")
}

// inHTML makes a text that stands in an element of HTML in Markdown.
func inHTML(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "@", "@&#8288;", "://", ":&#8288;//").Replace(plainText(s))
}

// InCode marks a text as code, whatever backticks it holds.
func InCode(s string) string {
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	s = plainText(strings.ReplaceAll(s, "\n", " "))
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + s + fence
}

// Markdown writes the comparison for a pull request.
func (c *Comparison) Markdown(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, MarkdownSign+"### %s\n\n", Escaped(c.title()))
	for _, s := range c.sums() {
		fmt.Fprintf(out, "- %s\n", Escaped(s))
	}
	for _, u := range c.Unlike {
		fmt.Fprintf(out, "- **They differ in more than the lock:** %s\n", Escaped(u))
	}
	for _, r := range c.Runs {
		for _, d := range r.Doubts {
			fmt.Fprintf(out, "- **Doubt about %s:** %s\n", Escaped(r.Name), Escaped(d))
		}
	}
	row := func(cells ...string) { fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | ")) }
	head, rule := []string{""}, []string{"---"}
	for _, r := range c.Runs {
		head, rule = append(head, Escaped(r.Name)), append(rule, "---")
	}
	fmt.Fprintln(out)
	row(head...)
	row(rule...)
	for _, p := range c.Properties {
		cells := []string{Escaped(p.Name)}
		for _, v := range p.Of {
			if v == nil {
				cells = append(cells, "")
			} else {
				cells = append(cells, mark(v.Verdict)+" "+v.Verdict.String())
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
		if name, v, ok := First(r.result); ok {
			foldedStory(out, r.Name+": "+name, v, r.story)
		}
	}
	return out.Flush()
}
