package choosing

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/nouns"
	"github.com/dlmtest/dlmtest/internal/visible"
	"github.com/dlmtest/dlmtest/reports/text"
)

// Short writes the advice as the table that heads the page, and stands in the README.
func Short(w io.Writer, e Evidence) error {
	var b strings.Builder
	b.WriteString("| you need | take | fencing? |\n|---|---|---|\n")
	for _, n := range e.needs() {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", n.What, n.Take, n.Fencing)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Markdown writes the page.
func Markdown(w io.Writer, e Evidence) error {
	var b strings.Builder
	b.WriteString("# Which lock for what\n\n" +
		"`make docs-choosing` writes this page: it runs the scenarios named here, and `dlmtest report choosing` makes the page\n" +
		"from their results. Each recommendation follows from the results by a rule; no cell is written by hand.\n\n")
	_ = Short(&b, e)
	for _, part := range []func(*strings.Builder){e.fencing, e.keys, e.faults, e.costs, e.capacity, e.libraries, e.source} {
		b.WriteString("\n")
		part(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// fencing tells what a stopped holder does to the data.
func (e Evidence) fencing(b *strings.Builder) {
	b.WriteString("## Do I need fencing?\n\n" +
		"A holder stops for longer than its lease (`" + stopped + "`), and in `" + between + "` it wakes between the next\n" +
		"holder's read and its write. Was the data saved?\n\n" +
		"| lock | leases | `" + stopped + "`: no fence | with a fence | could others go on? | `" + between +
		"`: no fence | a fence of writes | a fence of reads too |\n" +
		"|---|---|---|---|---|---|---|---|\n")
	for _, l := range e.references(func(l Lock) bool { return l.in(stopped, history.OnWrite) != nil }) {
		fmt.Fprintf(b, "| %s | %s |", code(l.Name()), map[bool]string{true: "yes", false: "no"}[l.Leased])
		for _, said := range []string{
			l.says(stopped, history.OnWrite, unfenced), l.says(stopped, history.OnWrite, fenced), l.says(stopped, history.OnWrite, wentOn),
			l.says(between, history.OnWrite, unfenced), l.says(between, history.OnWrite, fenced), l.says(between, history.OnRead, fenced),
		} {
			fmt.Fprintf(b, " %s |", said)
		}
		b.WriteString("\n")
	}
	leased := func(l Lock) bool { return l.Leased && l.reply(stopped, history.OnWrite, unfenced) == checker.No }
	if lost := e.references(leased); len(lost) > 0 {
		fmt.Fprintf(b, "\nWithout a fence a stopped holder of %s cost an update. No lease length closes that hole.\n", names(lost, "and"))
	}
	if late := e.references(func(l Lock) bool {
		return l.reply(between, history.OnWrite, fenced) == checker.No && l.reply(between, history.OnRead, fenced) == checker.Yes
	}); len(late) > 0 {
		fmt.Fprintf(b, "A fence that sees the tokens of writes alone lost an update with %s; a fence that sees the tokens "+
			"of reads too lost none. See [fencing.md](fencing.md).\n", names(late, "and"))
	}
}

// keys tells when nothing but an idempotency key helps.
func (e Evidence) keys(b *strings.Builder) {
	b.WriteString("## When does only an idempotency key help?\n\n" +
		"When the effect is outside of the data that checks tokens. A cashier stops before it charges a card (`" + charged + "`);\n" +
		"in `" + chargedOnce + "` each charge carries its order as idempotency key. Was every order charged once?\n\n" +
		"| lock | no fence | with a fence | with the key |\n|---|---|---|---|\n")
	for _, l := range e.references(func(l Lock) bool { return l.in(charged, history.OnWrite) != nil }) {
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", code(l.Name()),
			l.says(charged, history.OnWrite, once), l.says(charged, history.OnWrite, onceFenced), l.says(chargedOnce, history.OnWrite, once))
	}
}

// faults tells which promises each fault broke.
func (e Evidence) faults(b *strings.Builder) {
	b.WriteString("## What breaks the lock itself?\n\n" +
		"Did the service keep its promise: no two leases at once, tokens that rise, no release of another's lock?\n\n| lock |")
	for _, s := range inside {
		fmt.Fprintf(b, " `%s` |", s)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(inside)) + "\n")
	for _, l := range e.references(func(Lock) bool { return true }) {
		fmt.Fprintf(b, "| %s |", code(l.Name()))
		for _, s := range inside {
			fmt.Fprintf(b, " %s |", l.kept(s))
		}
		b.WriteString("\n")
	}
	b.WriteString("\n`" + amnesia + "` crashes a server that leaves fsync to the operating system; with `--fsync always` nothing is lost.\n" +
		"`" + parted + "` chooses by the seed which servers are cut off, so one run shows one choice. [findings.md](findings.md) has more.\n")
}

// kept says whether a lock kept its promise in a scenario, and which it broke.
func (l Lock) kept(scenario string) string {
	said := l.says(scenario, history.OnWrite, promise)
	shown := l.in(scenario, history.OnWrite)
	if shown == nil {
		return said
	}
	all, runs := shown.broken()
	for i, name := range all {
		all[i] = text.Escaped(name) + fewer(runs[name], len(shown.Runs))
	}
	if len(all) > 0 {
		said += ": " + strings.Join(all, ", ")
	}
	return said
}

// costs tells what each lock takes.
func (e Evidence) costs(b *strings.Builder) {
	b.WriteString("## What does it cost?\n\n" +
		"One client without competitors, whose messages take 5 ± 2 ms to the servers (`own-key`): the cost is made of round trips\n" +
		"and of data that must be durable. Compare the medians with each other, not with your network; the 99th percentile\n" +
		"also shows the other load of the machine.\n\n" +
		"| lock | servers | acquire: median | 99 % | release: median | 99 % |\n|---|---|---|---|---|---|\n")
	for _, l := range e.references(func(Lock) bool { return true }) {
		fmt.Fprintf(b, "| %s | %s |%s%s\n", code(l.Name()), l.servers(), l.Acquire.cells(), l.Release.cells())
	}
}

// servers are how many it takes, and of what where they differ.
func (l Lock) servers() string {
	if strings.Contains(l.Servers, ",") {
		return fmt.Sprintf("%d (%s)", l.Count, text.Escaped(l.Servers))
	}
	return fmt.Sprint(l.Count)
}

// cells are a latency in two cells of a table.
func (t *Latency) cells() string {
	if t == nil {
		return " not measured | |"
	}
	return fmt.Sprintf(" %s | %s |", millis(t.P50), millis(t.P99))
}

func millis(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d)/1e6) }

// capacity tells what one more costs a server.
func (e Evidence) capacity(b *strings.Builder) {
	b.WriteString("## How much load does a server take?\n\n")
	if len(e.Capacity) == 0 {
		b.WriteString("Not measured for this page: [capacity.md](capacity.md).\n")
		return
	}
	b.WriteString("What one more lock or session costs a server, measured by `dlmtest capacity`; in a quorum, it costs each server so " +
		"much. How it is measured: [capacity.md](capacity.md).\n\n| |")
	var rows []string
	for _, c := range e.Capacity {
		fmt.Fprintf(b, " %s |", text.Escaped(c.Backend+" "+c.Version))
		for _, r := range c.Rows {
			if !slices.Contains(rows, r.What) {
				rows = append(rows, r.What)
			}
		}
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(e.Capacity)) + "\n")
	for _, what := range rows {
		fmt.Fprintf(b, "| %s |", text.Escaped(what))
		for _, c := range e.Capacity {
			said := ""
			if i := slices.IndexFunc(c.Rows, func(r Slope) bool { return r.What == what }); i >= 0 {
				said = c.Rows[i].text()
			}
			fmt.Fprintf(b, " %s |", said)
		}
		b.WriteString("\n")
	}
}

func (s Slope) text() string {
	name, by := "bytes", 1.0
	switch {
	case s.One >= 1e6:
		name, by = "MB", 1e6
	case s.One >= 1e3:
		name, by = "kB", 1e3
	}
	digits := 0
	if by > 1 {
		digits = 1
	}
	return fmt.Sprintf("%.*f ± %.*f %s%s", digits, s.One/by, digits, s.Error/by, name, text.Escaped(strings.TrimPrefix(s.Unit, "bytes")))
}

// libraries tells the same of libraries, as far as it was run.
func (e Evidence) libraries(b *strings.Builder) {
	b.WriteString("## Libraries\n\n" +
		"The same for libraries with their default settings, with a stopped holder (`" + stopped + "`). What each is: [libraries.md](libraries.md),\n" +
		"[libraries-other-languages.md](libraries-other-languages.md). Each uses the servers of its backend.\n\n" +
		"| library | on | token | promise kept | no fence | with a fence | could others go on? |\n|---|---|---|---|---|---|---|\n")
	n := 0
	for _, l := range e.Locks {
		if l.reference() {
			continue
		}
		n++
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s |\n", text.Escaped(l.Name()), code(l.Backend),
			map[bool]string{true: "yes", false: "no"}[l.Token], l.kept(stopped),
			l.says(stopped, history.OnWrite, unfenced), l.says(stopped, history.OnWrite, fenced), l.says(stopped, history.OnWrite, wentOn))
	}
	if n == 0 {
		b.WriteString("\nNone was run for this page.\n")
	}
}

// source tells where the page comes from.
func (e Evidence) source(b *strings.Builder) {
	fmt.Fprintf(b, "## Where this comes from\n\nRuns of %s with dlmtest %s. All nodes share one machine: %s. Runtime: %s. `–` does not apply, or was not run; "+
		"`?` was not decided; %s. Again:\n\n", text.Escaped(e.Date), text.Escaped(e.Version), text.Escaped(e.Machine), text.Escaped(e.Runtime), e.counted())
	var all []string
	for _, c := range e.Commands {
		all = append(all, visible.Line(strings.Join(c, " ")))
	}
	lines := strings.Join(all, "\n")
	fence := "```" // which no line may end
	for strings.Contains(lines, fence) {
		fence += "`"
	}
	fmt.Fprintf(b, "%s\n%s\n%s\n", fence, lines, fence)
}

// counted says how many runs a cell has.
func (e Evidence) counted() string {
	least, most := 0, 0
	for _, l := range e.Locks {
		for _, s := range l.Shown {
			if n := len(s.Runs); most == 0 {
				least, most = n, n
			} else {
				least, most = min(least, n), max(most, n)
			}
		}
	}
	runs := fmt.Sprintf("%d to %d runs", least, most)
	if least == most {
		runs = nouns.Count(most, "run")
	}
	return "a cell has " + runs + ", and n/m is said of n of m"
}

// code is a name as code, in a cell of a table too: the record, and the folders it was made of, may be somebody else's.
func code(name string) string { return strings.ReplaceAll(text.InCode(name), "|", `\|`) }

// says is the answer of a lock in a scenario, in a cell: the worst of its runs, and how many gave it where they differ.
func (l Lock) says(scenario, fenceOn string, of func(Seen) checker.Reply) string {
	worst, same := l.reply(scenario, fenceOn, of), 0
	all := l.asked(scenario, fenceOn, of)
	for _, r := range all {
		if r == worst {
			same++
		}
	}
	return word(worst) + fewer(same, len(all))
}

// fewer says how many runs of m it was, where it was not all.
func fewer(n, m int) string {
	if n == m {
		return ""
	}
	return fmt.Sprintf(" %d/%d", n, m)
}

// word is an answer in a cell.
func word(r checker.Reply) string {
	return map[checker.Reply]string{checker.Yes: "yes", checker.No: "**no**", checker.NotKnown: "?", checker.NotAsked: "–"}[r]
}
