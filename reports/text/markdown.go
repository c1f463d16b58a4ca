package text

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/visible"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/remedies"
	"github.com/dlmtest/dlmtest/reports/say"
	"github.com/dlmtest/dlmtest/reports/story"
)

// MarkdownSign begins each Markdown file of dlmtest. Readers do not see it.
const MarkdownSign = "<!-- dlmtest -->\n"

// mostInCell is how long a reason in a table of Markdown is at most, in letters.
const mostInCell = 240

// Escaped makes a text that Markdown shows as it is: no markup, no HTML, no link and
// no mention of anybody, in a table, too.
func Escaped(s string) string {
	return markdown.Replace(visible.Line(strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ").Replace(strings.TrimSpace(s))))
}

// markdown escapes what would end a cell of a table, mark text up, link or mention.
// The word joiner is not seen on the page, and keeps apart what would be taken for an
// address; it is written by its number, as what is not seen in a file misleads.
var markdown = strings.NewReplacer(`\`, `\\`, "|", `\|`, "\n", " ", "<", "&lt;", ">", "&gt;", "&", "&amp;", "*", `\*`,
	"_", `\_`, "`", "\\`", "[", `\[`, "]", `\]`,
	"~", `\~`, "$", `\$`, "@", "@&#8288;", "://", ":&#8288;//", "www.", "www&#8288;.", "#", `\#`)

// Markdown writes a run for a pull request: the verdicts, and the story of the first
// violation folded away.
func Markdown(w io.Writer, run reports.Run, setup history.Setup, ops []history.Op, r checker.Result) error {
	run = run.Known(setup)
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, MarkdownSign+"### %s %s: %s\n\n", say.Mark(r.Verdict), Escaped(run.Name()), Escaped(reports.Overall(setup, r)))
	if facts := run.Facts("2006-01-02 15:04:05 MST"); len(facts) > 0 {
		fmt.Fprintf(out, "%s\n\n", Escaped(strings.Join(facts, ", ")))
	}
	for _, q := range reports.Questions(setup, r) {
		fmt.Fprintf(out, "- %s **%s %s.** %s\n", reports.ReplySign(q.Reply), q.Question, q.Words(), Escaped(reports.AfterReply(q)))
	}
	if r.Early != "" {
		fmt.Fprintf(out, "- %s\n", Escaped(r.Early))
	}
	for _, d := range reports.Doubts(r) {
		fmt.Fprintf(out, "- **Doubt:** %s\n", Escaped(d))
	}
	for _, s := range reports.ServerEnds(ops) {
		fmt.Fprintf(out, "- %s\n", Escaped(s))
	}
	for _, s := range reports.Silences(setup.Promise) {
		fmt.Fprintf(out, "- %s\n", Escaped("What it does not tell: "+s.Lacks+": "+s.Means+"."))
	}
	fmt.Fprintf(out, "\n| | property | why |\n|---|---|---|\n")
	for _, p := range r.Properties {
		fmt.Fprintf(out, "| %s %s | %s | %s |\n", say.Mark(p.Verdict), p.Verdict, Escaped(p.Name),
			Escaped(strings.TrimSpace(say.Clip(p.Reason, mostInCell)+" "+p.Tested)))
	}
	if err := MarkdownStory(out, "", setup, ops, r); err != nil {
		return err
	}
	if r.Verdict == checker.Violated {
		fmt.Fprintf(out, "\n**%s** %s\n", remedies.Question, Escaped(remedies.Explain(setup, ops, r).Prevented))
	}
	if len(run.Command) > 0 {
		fmt.Fprintf(out, "\nRepeat it: %s\n", InCode(say.Shell(run.Command)))
	}
	return out.Flush()
}

// MarkdownStory folds the story of the first violation of a run away; of is what the
// run is called among others, or "".
func MarkdownStory(w io.Writer, of string, setup history.Setup, ops []history.Op, r checker.Result) error {
	name, v, ok := story.First(r)
	if !ok {
		return nil
	}
	if of != "" {
		name = of + ": " + name
	}
	out := bufio.NewWriter(w)
	FoldedStory(out, name, v, story.Of(setup, ops, v))
	return out.Flush()
}

// FoldedStory writes a story that is folded away.
func FoldedStory(out io.Writer, name string, v checker.Violation, steps []story.Step) {
	fmt.Fprintf(out, "\n<details><summary>How it came about: violation %d, %s</summary>\n\n%s\n\n", v.Number, inHTML(name), Escaped(v.Message))
	for i, s := range steps {
		fmt.Fprintf(out, "%d. %s **%s** %s\n", i+1, say.Seconds(int64(s.At)), Escaped(s.Who), Escaped(s.What))
	}
	fmt.Fprintf(out, "\n</details>\n")
}

// inHTML makes a text that stands in an element of HTML in Markdown.
func inHTML(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "@", "@&#8288;", "://", ":&#8288;//").Replace(visible.Line(s))
}

// InCode marks a text as code, whatever backticks it holds.
func InCode(s string) string {
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	s = visible.Line(strings.ReplaceAll(s, "\n", " "))
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + s + fence
}
