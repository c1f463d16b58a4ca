package agent

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// records starts a child that prints so, and has it end its records.
func recordsOf(t *testing.T, script string) (ops int, end *Ended) {
	t.Helper()
	r := startAgent(t)
	if m := r.do(Command{Do: Start, Child: &Child{Argv: []string{"sh", "-c", script}, Speaks: true}}); m.Error != "" {
		t.Fatal(m.Error)
	}
	end = r.do(Command{Do: End}).End
	for _, m := range r.seen {
		if m.Op != nil {
			ops++
		}
	}
	return ops, end
}

const oneOp = `echo '{"op":{"type":"note","f":"read-seen"}}'; `

// The answer comes behind all records, and says how many there were.
func TestRecordsEndWithTheirNumber(t *testing.T) {
	for name, c := range map[string]struct {
		script    string
		ops, said int
		open      bool
	}{
		"ends when it is told to":          {oneOp + oneOp + `read order; case $order in *'"end":true'*) ` + oneOp + `echo '{"end":{"ops":3}}';; esac; sleep 60`, 3, 3, false},
		"had ended":                        {oneOp + `echo '{"end":{"ops":1}}'`, 1, 1, false},
		"recorded more than could be read": {`printf 'a stray word'; ` + oneOp + oneOp + `echo '{"end":{"ops":2}}'`, 1, 2, false},
		"ended and did not say":            {oneOp + `exit 2`, 1, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			ops, end := recordsOf(t, c.script)
			if end == nil || ops != c.ops || end.Ops != c.said || end.Open != c.open {
				t.Errorf("%d records, %+v", ops, end)
			}
		})
	}
}

// What was killed had written all that it recorded, and can say no more.
func TestKilledChildIsNotOpen(t *testing.T) {
	r := startAgent(t)
	r.do(Command{Do: Start, Child: &Child{Argv: []string{"sh", "-c", oneOp + "sleep 60"}, Speaks: true}})
	r.until(func(m Message) bool { return m.Op != nil })
	r.do(Command{Do: Kill})
	if end := r.do(Command{Do: End}).End; end == nil || end.Open || end.Ops != 1 {
		t.Errorf("%+v", end)
	}
}

// A line that a print has broken is a record that is missing, of one that was killed, too.
func TestBrokenLineIsMissing(t *testing.T) {
	r := startAgent(t)
	broken := `printf 'DEBUG '; ` + oneOp
	r.do(Command{Do: Start, Child: &Child{Argv: []string{"sh", "-c", "echo a stray line; " + broken + oneOp + "sleep 60"}, Speaks: true}})
	r.until(func(m Message) bool { return m.Op != nil })
	r.do(Command{Do: Kill})
	if end := r.do(Command{Do: End}).End; end == nil || end.Open || end.Ops != 2 {
		t.Errorf("%+v", end)
	}
}

// No record follows the end, and what was lost is counted and told before what is newer.
func TestNothingFollowsTheEnd(t *testing.T) {
	var w bytes.Buffer
	o := newOut(&w)
	op := Message{Op: json.RawMessage(`{"f":"stall"}`)}
	o.send(op)
	o.mu.Lock()
	o.lost, o.ops = 2, o.ops+2
	o.mu.Unlock()
	o.send(op)
	o.end(Message{Re: 1}, Ended{})
	o.send(op)
	o.pass([]byte(`{"op":{"f":"stall"}}`))
	o.close()
	lines := strings.Split(strings.TrimSpace(w.String()), "\n")
	var last Message
	_ = json.Unmarshal([]byte(lines[len(lines)-1]), &last)
	if len(lines) != 4 || last.End == nil || last.End.Ops != 4 || !strings.Contains(strings.Join(lines[:3], ""), `"lost":2`) || strings.Contains(lines[2], "lost") {
		t.Errorf("%q", lines)
	}
}
