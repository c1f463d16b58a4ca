package runner

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/clusters"
)

// A node that prints without end does not fill the disk.
func TestLogIsShort(t *testing.T) {
	dir := t.TempDir()
	n := &clusters.Node{Spec: clusters.NodeSpec{Name: "client-1"}, Stdout: strings.NewReader(""), Stderr: strings.NewReader("")}
	a, err := attach(n, nil, dir)
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Repeat("x", 1<<20-1)
	for range 70 {
		a.logLine(line)
	}
	if err := a.log.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "client-1.log"))
	if err != nil || len(text) > logSize+100 || len(text) < logSize || bytes.Count(text, []byte("the rest is left out\n")) != 1 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if a.lastWords()[0] != line {
		t.Error("the last words are not kept")
	}
}
