package clusters

import (
	"io"
	"strings"
	"testing"
)

// Nobody reads: the writer must not wait, and the newest must be kept.
func TestTail(t *testing.T) {
	p := newTail()
	for range 1000 {
		io.WriteString(p, strings.Repeat("x", 999)+"\n")
	}
	io.WriteString(p, "a\nlast\n")
	p.Close()
	if got := p.lines(); !strings.HasSuffix(got, "\na\nlast") || strings.Count(got, "\n") >= tailLines {
		t.Errorf("lines %q", got)
	}
	text, err := io.ReadAll(p)
	if err != nil || len(text) != tailSize || !strings.HasSuffix(string(text), "last\n") {
		t.Errorf("read %d bytes, %v", len(text), err)
	}
}
