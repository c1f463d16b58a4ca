package say

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Names lists nodes in order: "client-1 to client-4, etcd-2 and resource".
func Names(nodes []string) string {
	nodes = Sorted(nodes)
	var parts []string
	for len(nodes) > 0 {
		n := consecutive(nodes)
		if n < 3 {
			parts, nodes = append(parts, nodes[0]), nodes[1:]
			continue
		}
		parts, nodes = append(parts, nodes[0]+" to "+nodes[n-1]), nodes[n:]
	}
	if n := len(parts) - 1; n > 0 {
		return strings.Join(parts[:n], ", ") + " and " + parts[n]
	}
	return strings.Join(parts, "")
}

// Sorted are nodes by name and number, so that 2 comes before 10.
func Sorted(nodes []string) []string {
	return slices.SortedFunc(slices.Values(nodes), func(a, b string) int {
		aName, aN := Numbered(a)
		bName, bN := Numbered(b)
		return cmp.Or(cmp.Compare(aName, bName), cmp.Compare(aN, bN), cmp.Compare(a, b))
	})
}

// consecutive is how many nodes at the start count up by one.
func consecutive(nodes []string) int {
	name, first := Numbered(nodes[0])
	n := 1
	for n < len(nodes) && nodes[n] == fmt.Sprintf("%s-%d", name, first+n) {
		n++
	}
	return n
}

// Numbered takes "etcd-2" apart; -1: there is no number.
func Numbered(node string) (string, int) {
	if i := strings.LastIndexByte(node, '-'); i > 0 {
		if n, err := strconv.Atoi(node[i+1:]); err == nil {
			return node[:i], n
		}
	}
	return node, -1
}

const inTime = "no answer in time"

// jargon is what databases and drivers wrap around their words.
var jargon = regexp.MustCompile(`\s*\(SQLSTATE [0-9A-Z]{5}\)|\b(ERROR|FATAL|PANIC): +`)

// known are errors that many drivers word in many ways; the first match counts.
var known = [...]struct{ part, words string }{
	{"idle-in-transaction timeout", "the server ended its session, which had been idle in a transaction for too long"},
	{"terminating connection", "the server ended its session"},
	{"canceling statement due to user request", inTime},
	{"deadline exceeded", inTime},
	{"i/o timeout", inTime},
	{"connection refused", "the server took no connection"},
	{"connection reset", "the connection broke"},
	{"broken pipe", "the connection broke"},
}

// Error says the error of a driver in plain words; the timeline shows it as
// it was recorded.
func Error(s string) string {
	for _, lead := range []string{"not granted", "not held"} {
		if rest, ok := strings.CutPrefix(s, lead+": "); ok {
			if rest = Error(rest); rest == inTime {
				return lead + " in time"
			}
			return lead + ": " + rest
		}
	}
	for _, k := range known {
		if strings.Contains(s, k.part) {
			return k.words
		}
	}
	first, _, _ := strings.Cut(s, "\n")
	return strings.TrimSpace(jargon.ReplaceAllString(first, ""))
}
