package models_test

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

var (
	textOf  = regexp.MustCompile(`(?s)<text x="([-0-9.]+)" y="([-0-9.]+)"[^>]*font-size:([0-9.]+)px">([^<]*)</text>`)
	power10 = regexp.MustCompile(`^10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+$`)
)

// TestPlot looks at the words of the plot: each is inside it, also where the
// letters of a browser are wide, and the axes speak one language.
func TestPlot(t *testing.T) {
	lines := map[string]*points{}
	for i, name := range []string{porcupineLine, wholeLine, judgeLine, scanLine} {
		lines[name] = &points{}
		for n, d := 1000, time.Duration(10+i)*time.Microsecond; n <= 1e7; n, d = n*10, d*11 {
			lines[name].add(n, d)
		}
	}
	var out bytes.Buffer
	if _, err := drawPlot(&out, lines); err != nil {
		t.Fatal(err)
	}
	ticks := 0
	for _, m := range textOf.FindAllStringSubmatch(out.String(), -1) {
		x, _ := strconv.ParseFloat(m[1], 64)
		size, _ := strconv.ParseFloat(m[3], 64)
		if !power10.MatchString(m[4]) {
			if strings.ContainsAny(m[4][:1], "0123456789") {
				t.Errorf("a label of another style: %q", m[4])
			}
			continue
		}
		ticks++
		if end := x + 0.7*size*float64(utf8.RuneCountInString(m[4])); x < 0 || end > plotWidth.Points() {
			t.Errorf("%q is from %.0f to %.0f, and the plot %.0f wide", m[4], x, end, plotWidth.Points())
		}
	}
	if ticks < 5+5 {
		t.Errorf("%d labels of ticks", ticks)
	}
}
