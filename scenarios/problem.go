package scenarios

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong with a scenario.
type Problem struct {
	File string // as named to Parse; "" where there is none
	Line int    // from 1; 0: unknown
	Path string // of the field, such as "faults[0].on"
	Text string // what is wrong, naming the field, and what to write instead
}

// Error names the file, the line and what is wrong there.
func (p Problem) Error() string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(p.File + ": ")
	}
	if p.Line > 0 {
		fmt.Fprintf(&b, "line %d: ", p.Line)
	}
	b.WriteString(p.Text)
	return b.String()
}

// Problems are all that is wrong with a scenario, so that a file is mended in
// one go. As an error it has one line for each.
type Problems []Problem

// Error has a line for each problem.
func (ps Problems) Error() string {
	var lines []string
	for _, p := range ps {
		lines = append(lines, p.Error())
	}
	return strings.Join(lines, "\n")
}

// in places problems in a file: a problem has the line of its field, or of the
// nearest field around it that the file has.
func (ps Problems) in(file string, lines map[string]int) Problems {
	for i := range ps {
		ps[i].File = file
		for path := ps[i].Path; ps[i].Line == 0; path = parent(path) {
			ps[i].Line = lines[path]
			if path == "" {
				break
			}
		}
	}
	slices.SortStableFunc(ps, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return ps
}

// parent is the path around a path: "faults[0].on" → "faults[0]" → "faults" → "".
func parent(path string) string {
	return path[:max(0, strings.LastIndexAny(path, ".["))]
}
