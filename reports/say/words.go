// Package say writes what reports are made of in plain words, in one way everywhere: instants,
// lengths of time, numbers, names of nodes, errors and commands.
package say

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/checker"
)

// Seconds writes raw nanoseconds as seconds with milliseconds, the one form of
// all instants in a report, so that they line up and can be searched for.
func Seconds(ns int64) string { return strconv.FormatFloat(float64(ns)/1e9, 'f', 3, 64) + " s" }

// Length writes a duration to three digits, in the unit that suits it.
func Length(d time.Duration) string {
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

// Count writes "1 write" or "3 writes".
func Count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return Thousands(n) + " " + one + "s"
}

// Thousands writes 12345 as 12,345.
func Thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// Value shows a value of the resource.
func Value(v string) string { return cmp.Or(v, "the empty value") }

// Mark is the sign of a verdict, so that colour never carries it alone.
func Mark(v checker.Verdict) string {
	return [...]string{checker.Unknown: "?", checker.Holds: "✓", checker.Violated: "✗", checker.NA: "–"}[v]
}

// Own is set where this program has locks that no other dlmtest has: commands that are kept for others name it, too.
var Own bool

// Shell quotes a command so that it can be pasted, wherever it is read: the program is called dlmtest, but see Own.
// A folder that somebody else made may name any other program there: that stands as a comment, which a shell does not run.
func Shell(command []string) string {
	if !ours(command) {
		return "# no command of dlmtest: " + strings.Join(strings.Fields(quoted(command)), " ")
	}
	if Own {
		return Typed(command)
	}
	return quoted(command)
}

// ours says whether a command is one that dlmtest, or a test with its Go API, writes.
func ours(command []string) bool {
	if len(command) == 7 && strings.HasPrefix(command[0], "DLMTEST_SEED=") {
		return slices.Equal(command[1:5], []string{"go", "test", "-count=1", "-run"}) && command[6] == "."
	}
	return len(command) == 0 || command[0] == "dlmtest"
}

// Typed is Shell for who has just started this program: it is called as they called it.
func Typed(command []string) string {
	if len(command) > 0 && command[0] == "dlmtest" {
		command = append(called(), command[1:]...)
	}
	return quoted(command)
}

// called is what starts this program again. What "go run" has started is removed as it ends.
func called() []string {
	if info, ok := debug.ReadBuildInfo(); ok && filepath.Base(filepath.Dir(os.Args[0])) == "exe" && strings.Contains(os.Args[0], "go-build") {
		return []string{"go", "run", info.Path}
	}
	return []string{os.Args[0]}
}

func quoted(command []string) string {
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

// FirstSentences are the first n sentences of a text.
func FirstSentences(text string, n int) string {
	text = strings.Join(strings.Fields(text), " ")
	at := 0
	for range n {
		i := strings.Index(text[at:], ". ")
		if i < 0 {
			return text
		}
		at += i + 2
	}
	return strings.TrimSpace(text[:at])
}

// Sentence ends a message with a full stop.
func Sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" || strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}

// Upper begins a text with a capital, unless it begins with the name of a node.
func Upper(s string) string {
	if name, _, _ := strings.Cut(s, " "); strings.ContainsAny(name, "0123456789") {
		return s
	}
	return strings.ToUpper(s[:min(1, len(s))]) + s[min(1, len(s)):]
}

// Clip shortens a text to so many letters.
func Clip(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:max(most-1, 0)]) + "…"
	}
	return s
}

// Figure writes a number to three digits.
func Figure(x float64) string {
	digits := 2
	if x >= 100 {
		digits = 0
	} else if x >= 10 {
		digits = 1
	}
	return Number(math.Round(x*math.Pow(10, float64(digits))) / math.Pow(10, float64(digits)))
}

// Verb is one or many, by a number.
func Verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Number writes a value of an axis without the noise of floating point.
func Number(x float64) string {
	s := strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.6f", x), "0"), ".")
	if s == "-0" {
		return "0"
	}
	return s
}

// None stands where there is no value.
const None = "–"
