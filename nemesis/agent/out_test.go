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

// What passes an operation on is the worker's own text, so it must be whole and nothing else.
func TestOperation(t *testing.T) {
	long := `{"op":{"error":"` + strings.Repeat("x", 5000) + `"}}`
	for _, c := range []struct {
		line, op string
		is       bool
	}{
		{`{"op":{"f":"acquire"}}`, `{"f":"acquire"}`, true},
		{`{"op":{"f":"write","fenced":{"value":"x"}}}`, `{"f":"write","fenced":{"value":"x"}}`, true},
		{long, long[6 : len(long)-1], true},
		{strings.Replace(long, "x", "}}", 1)[:4500] + "}}", "", false}, // its end is lost
		{long[:4500], "", false},
		{`{"op":{"f":"acq`, "", false},
		{`{"checkpoint":{"id":1}}`, "", false},
		{`{"say":{"op":{}}}`, "", false},
		{`a word of a library`, "", false},
		{`{"op":`, "", false},
		{`{"op":}`, "", false},
		{``, "", false},
	} {
		if op, is := Operation([]byte(c.line)); is != c.is || string(op) != c.op {
			t.Errorf("%.60q: %.60q, %v", c.line, op, is)
		}
	}
}
