package history

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// endless is a line that never ends.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// What is too large, or has no end, is refused before it takes memory, with what to do.
func TestUnboundedHistories(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, SizeLimit+1); err != nil { // it has holes
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, _, err := Decode(f); err == nil || !strings.Contains(err.Error(), "more than the 2147483648") || !strings.Contains(err.Error(), "--model") {
		t.Errorf("%v", err)
	}
	if _, _, err := Decode(endless{}); err == nil || !strings.Contains(err.Error(), "longer than 1048576 bytes") || !strings.Contains(err.Error(), "list formats") {
		t.Errorf("%v", err)
	}
	sizeLimit, opsLimit = 1000, OpsLimit
	defer func() { sizeLimit, opsLimit = SizeLimit, OpsLimit }()
	head := "{\"dlmtest_history\":1,\"setup\":{\"lease\":1000,\"keys\":[\"k\"],\"promise\":{\"backend\":\"b\",\"leased\":true,\"token\":true,\"session\":false,\"extends\":false,\"tries\":false,\"order\":false,\"bound\":0,\"about\":\"\"},\"clients\":[],\"fencing\":\"\",\"fence_on\":\"\",\"expect\":{}}}\n"
	line := "{\"time\":1,\"process\":0,\"type\":\"note\",\"f\":\"final\"}\n"
	in := io.MultiReader(strings.NewReader(head), bytes.NewReader([]byte(strings.Repeat(line, 100))))
	if _, ops, err := Decode(in); err == nil || !strings.Contains(err.Error(), "at least 2147483649") || len(ops) > 20 {
		t.Errorf("%d operations, %v", len(ops), err)
	}
	sizeLimit, opsLimit = SizeLimit, 50 // short lines take many times their bytes
	in = io.MultiReader(strings.NewReader(head), bytes.NewReader([]byte(strings.Repeat(line, 51))))
	if _, ops, err := Decode(in); err == nil || !strings.Contains(err.Error(), "more than the 12000000 lines") || len(ops) != 50 {
		t.Errorf("%d operations, %v", len(ops), err)
	}
	in = io.MultiReader(strings.NewReader(head), bytes.NewReader([]byte(strings.Repeat(line, 50))))
	if _, ops, err := Decode(in); err != nil || len(ops) != 50 {
		t.Errorf("%d operations, %v", len(ops), err)
	}
}
