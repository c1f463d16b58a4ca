package agent

import (
	"bufio"
	"encoding/json"
	"io"
	"strings"
	"testing"
)

// A reader that does not read must neither block the writer nor lose or reorder lines.
func TestOutSpillsInOrder(t *testing.T) {
	r, w := io.Pipe()
	o := newOut(w)
	filler := strings.Repeat("x", 1<<20)
	const n = 80 // MiB: more than fits in memory
	for i := range n {
		o.send(Message{Re: i + 1, Log: filler})
	}
	go o.close()
	lines := bufio.NewReaderSize(r, 2<<20)
	for i := range n {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		var m Message
		if err := json.Unmarshal(line, &m); err != nil || m.Re != i+1 {
			t.Fatalf("line %d: got %d, %v", i+1, m.Re, err)
		}
	}
}
