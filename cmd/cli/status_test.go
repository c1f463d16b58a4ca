package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/dlmtest/dlmtest/runner/matrix"
)

func TestStatusLine(t *testing.T) {
	s := newStatus(&bytes.Buffer{}, true)
	s.begun, s.state.Total = time.Now(), 12
	s.run("gc-pause × redis").Phase("Starting 7 nodes")
	s.run("baseline × etcd")
	if got, want := s.line(200), "0 of 12 done, 0s | gc-pause × redis: Starting 7 nodes | baseline × etcd"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	s.ended(matrix.State{Done: 1, Total: 12, Left: 90 * time.Second}, "gc-pause × redis")
	if got, want := s.line(200), "1 of 12 done, 0s, about 1m30s left | baseline × etcd"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for width := range 60 {
		if got := s.line(max(width, 1)); !utf8.ValidString(got) || utf8.RuneCountInString(got) >= max(width, 1) {
			t.Errorf("width %d: %q", width, got)
		}
	}
}

// Where there is no terminal nothing is drawn, and what is printed comes as it is.
func TestStatusIsSilentElsewhere(t *testing.T) {
	var out bytes.Buffer
	s := newStatus(&out, false)
	s.begin(1)
	s.run("a × b").Phase("Starting")
	s.aside(func() { out.WriteString("line\n") })
	s.end()
	if out.String() != "line\n" {
		t.Errorf("%q", out.String())
	}
}

// On a terminal what is printed replaces the line, which is then drawn anew.
func TestStatusStaysBelow(t *testing.T) {
	var out bytes.Buffer
	s := newStatus(&out, true)
	s.begin(2)
	s.aside(func() { out.WriteString("line\n") })
	s.end()
	if got := out.String(); !strings.Contains(got, "\r\x1b[Kline\n0 of 2 done") || !strings.HasSuffix(got, "\r\x1b[K") {
		t.Errorf("%q", got)
	}
}
