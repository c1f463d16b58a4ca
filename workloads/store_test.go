package workloads

import (
	"bufio"
	"encoding/json"
	"io"
	"testing"

	"github.com/dlmtest/dlmtest/internal/loopback"
	"github.com/dlmtest/dlmtest/nemesis/agent"
	"github.com/dlmtest/dlmtest/workloads/resource"
)

// The guarded resource ends its records when it is told to, with their number, and serves
// nobody any more.
func TestStoreEndsItsRecords(t *testing.T) {
	addr := loopback.Free(t)
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- Store(t.Context(), inR, outW, addr, resource.Rules{}); _ = outW.Close() }()
	lines := make(chan agent.Line, 100)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(outR); s.Scan(); {
			var l agent.Line
			if json.Unmarshal(s.Bytes(), &l) == nil {
				lines <- l
			}
		}
	}()
	var c resource.Resource
	for c == nil {
		var err error
		if c, err = resource.Dial(addr); err == nil {
			_, err = c.Read(t.Context(), resource.ReadRequest{Key: "k"})
		}
		if err != nil {
			c = nil
		}
	}
	if _, err := c.Write(t.Context(), resource.WriteRequest{Key: "k", Value: "v"}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(inW, `{"end":true}`+"\n"); err != nil {
		t.Fatal(err)
	}
	ops, said := 0, -1
	for l := range lines {
		if l.Op != nil {
			ops++
		}
		if l.End != nil {
			said = l.End.Ops
		}
	}
	if err := <-ended; err != nil || ops != 2 || said != 2 {
		t.Errorf("%d records, %d by its word: %v", ops, said, err)
	}
	if _, err := c.Read(t.Context(), resource.ReadRequest{Key: "k"}); err == nil {
		t.Error("it serves on")
	}
}

// A worker's last line is the number of its records, also of one that fails.
func TestWorkerEndsItsRecords(t *testing.T) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	go func() { _ = Worker(t.Context(), inR, outW); _ = outW.Close() }()
	go func() { _, _ = io.WriteString(inW, `{"say":{}}`+"\n") }()
	var last agent.Line
	for s := bufio.NewScanner(outR); s.Scan(); {
		last = agent.Line{}
		_ = json.Unmarshal(s.Bytes(), &last)
	}
	if last.End == nil || last.End.Ops != 0 {
		t.Errorf("%+v", last)
	}
}
