package reports

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/checker"
)

// seconds writes raw nanoseconds as seconds with milliseconds, the one form of
// all instants in a report, so that they line up and can be searched for.
func seconds(ns int64) string { return strconv.FormatFloat(float64(ns)/1e9, 'f', 3, 64) + " s" }

// length writes a duration to three digits, in the unit that suits it.
func length(d time.Duration) string {
	unit, name := time.Second, "s"
	switch abs := max(d, -d); {
	case abs >= 10*time.Minute:
		unit, name = time.Minute, "min"
	case abs >= time.Second:
	case abs >= time.Millisecond:
		unit, name = time.Millisecond, "ms"
	default:
		unit, name = time.Microsecond, "µs"
	}
	x := float64(d) / float64(unit)
	digits := 2
	if max(x, -x) >= 100 {
		digits = 0
	} else if max(x, -x) >= 10 {
		digits = 1
	}
	text := strconv.FormatFloat(x, 'f', digits, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text + " " + name
}

// count writes "1 write" or "3 writes".
func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(n) + " " + one + "s"
}

// thousands writes 12345 as 12,345.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func duration(s span) time.Duration { return time.Duration(s.to - s.from) }

// value shows a value of the resource.
func value(v string) string { return cmp.Or(v, "the empty value") }

// mark is the sign of a verdict, so that colour never carries it alone.
func mark(v checker.Verdict) string {
	return [...]string{checker.Unknown: "?", checker.Holds: "✓", checker.Violated: "✗", checker.NA: "–"}[v]
}

func violated(r checker.Result) (n int) {
	for _, p := range r.Properties {
		if p.Verdict == checker.Violated {
			n++
		}
	}
	return n
}

// Shell quotes a command so that it can be pasted.
func Shell(command []string) string { return shell(command) }

// shell quotes a command so that it can be pasted.
func shell(command []string) string {
	words := make([]string, len(command))
	for i, w := range command {
		if w == "" || strings.ContainsFunc(w, func(r rune) bool {
			return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+./:,@%", r)
		}) {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		words[i] = w
	}
	return strings.Join(words, " ")
}

// tally is the counts as phrases, those of zero that say nothing left out.
func tally(c checker.Counts) []string {
	words := []string{count(c.Operations, "operation"), count(c.Grants, "grant"), count(c.Contended, "contended acquire"), count(c.Writes, "write")}
	if c.StaleWrites > 0 {
		words = append(words, fmt.Sprintf("%s on a superseded grant, %d refused", count(c.StaleWrites, "write"), c.StaleRefused))
	}
	if c.Faults > 0 {
		words = append(words, fmt.Sprintf("%s, %d seen at the victim", count(c.Faults, "fault"), c.FaultsSeen))
	}
	if c.FaultsSkipped > 0 {
		words = append(words, fmt.Sprintf("%d of the random schedule skipped", c.FaultsSkipped))
	}
	if c.Unknowns > 0 {
		words = append(words, count(c.Unknowns, "unknown outcome"))
	}
	if c.IdleOverlaps > 0 {
		words = append(words, count(c.IdleOverlaps, "idle overlap"))
	}
	if c.MaxStall > 0 {
		words = append(words, "longest unplanned stall "+length(time.Duration(c.MaxStall)))
	}
	return words
}
