package runner

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/clusters"
	"github.com/dlmtest/dlmtest/history"
)

// Records come in batches, among other messages and of any length, and each is kept as it was written.
func TestRecordsOfANode(t *testing.T) {
	rec, err := newRecorder(filepath.Join(t.TempDir(), partFile), history.Setup{Keys: []string{"k"}})
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("long ", 1<<15)
	lines := []string{`{"op":{"time":1,"type":"note","f":"suspended","owner":"first","error":"` + long + `"}}`, `{"log":"a word"}`,
		`{"op":{"time":2,"node":"other","type":"note","f":"lost","owner":"sec\u006fnd","value":"{\"op\":{}}"}}`, `{"say":{"waiting":"x"}}`,
		`{"op":{"time":3,"type":"note","f":"resumed","owner":"third"}}`}
	n, err := attach(&clusters.Node{Spec: clusters.NodeSpec{Name: "client-1"}, Stdout: strings.NewReader(strings.Join(lines, "\n") + "\n"),
		Stderr: strings.NewReader("")}, rec, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	<-n.gone
	ops, err := rec.close()
	if err != nil || len(ops) != 3 || n.ops.Load() != 3 || n.came.Load() != 5 || len(n.said) != 1 {
		t.Fatalf("%d records, %d counted, %d messages, %d words, %v", len(ops), n.ops.Load(), n.came.Load(), len(n.said), err)
	}
	if a, b, c := ops[0], ops[1], ops[2]; a.Owner != "first" || a.Error != long || a.Node != "client-1" ||
		b.Owner != "second" || b.Value != `{"op":{}}` || b.Node != "other" || c.Owner != "third" || c.F != history.Resumed {
		t.Errorf("%.300v", ops)
	}
}

// A record that cannot be read is an error of the run, never left out in silence.
func TestRecordThatCannotBeRead(t *testing.T) {
	for _, line := range []string{`{"op":{"time":1,"type":"note","f":"lost","unknown":1}}`, `{"op":{"time":1,"type":"note"},"say":{}}`,
		`{"op":{"time":1,"type":"nought"}}`, `{"op":{}}`} {
		rec, err := newRecorder(filepath.Join(t.TempDir(), partFile), history.Setup{Keys: []string{"k"}})
		if err != nil {
			t.Fatal(err)
		}
		n, err := attach(&clusters.Node{Stdout: strings.NewReader(line + "\n"), Stderr: strings.NewReader("")}, rec, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		<-n.gone
		if ops, err := rec.close(); err == nil || len(ops) > 0 || n.ops.Load() != 1 {
			t.Errorf("%s: %d records, %v", line, len(ops), err)
		}
	}
}
