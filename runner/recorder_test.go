package runner

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/history"
)

// What is recorded has an end, which is a doubt, told once.
func TestRecordHasAnEnd(t *testing.T) {
	r, err := newRecorder(filepath.Join(t.TempDir(), partFile), history.Setup{Keys: []string{"k"}})
	if err != nil {
		t.Fatal(err)
	}
	note := func(n int) json.RawMessage {
		return json.RawMessage(fmt.Sprintf(`{"time":%d,"type":"note","f":"suspended"}`, n))
	}
	r.bytes = mostRecorded - int64(len(note(1)))
	for n := range 3 {
		r.add("client-1", note(n))
	}
	ops, err := r.close()
	if err != nil || len(ops) != 1 || len(r.doubts) != 1 || !strings.Contains(r.doubts[0], "is missing") {
		t.Errorf("%d records, the doubts %q, %v", len(ops), r.doubts, err)
	}
}
