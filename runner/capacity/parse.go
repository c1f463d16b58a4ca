package capacity

import (
	"strconv"
	"strings"
)

// Memory reads what is anonymous of all programs of a node, and the shared memory once,
// in bytes, from the lines Name, RssAnon and RssShmem of their /proc/PID/status. The
// tools that read it, and dlmtest's own agent, do not count.
func Memory(status string) int64 {
	var total, shared int64
	counts := true
	for line := range strings.Lines(status) {
		name, value, _ := strings.Cut(line, ":")
		switch value = strings.TrimSpace(value); name {
		case "Name":
			counts = !ours[value]
		case "RssAnon":
			if counts {
				total += kilobytes(value)
			}
		case "RssShmem":
			if counts {
				shared = max(shared, kilobytes(value))
			}
		}
	}
	return total + shared
}

var ours = map[string]bool{"dlmtest": true, "sh": true, "bash": true, "cat": true, "grep": true, "exe": true}

func kilobytes(value string) int64 {
	n, _ := strconv.ParseInt(strings.TrimSuffix(value, " kB"), 10, 64) // what is no number is none
	return n << 10
}

// Traffic reads the bytes that went through all interfaces but lo, both ways, from
// /proc/net/dev.
func Traffic(dev string) int64 {
	var total int64
	for line := range strings.Lines(dev) {
		name, rest, ok := strings.Cut(line, ":")
		fields := strings.Fields(rest)
		if !ok || strings.TrimSpace(name) == "lo" || len(fields) < 9 {
			continue
		}
		for _, i := range []int{0, 8} { // received, sent
			n, _ := strconv.ParseInt(fields[i], 10, 64)
			total += n
		}
	}
	return total
}

// Own reads a figure that a server tells of itself: "name:value", "name value" or
// "name<tab>value"; false: it does not tell.
func Own(text, name string) (float64, bool) {
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(line, name)
		if !ok || rest == "" || !strings.ContainsAny(rest[:1], ": \t") {
			continue
		}
		n, err := strconv.ParseFloat(strings.Trim(rest, ": \t\r\n"), 64)
		return n, err == nil
	}
	return 0, false
}
