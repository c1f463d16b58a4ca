package history

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestPlainIsOp: the fast path takes nothing that the strict one refuses, and
// reads the same, also where a line was damaged.
func TestPlainIsOp(t *testing.T) {
	_, usual := sample(20)
	took, all := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		op := anyOp(t)
		if rapid.Bool().Draw(t, "usual") {
			op = rapid.SampledFrom(usual).Draw(t, "op")
		}
		line := string(appendOp(nil, &op))
		for range rapid.IntRange(0, 2).Draw(t, "damage") {
			at := rapid.IntRange(0, len(line)).Draw(t, "at")
			what := rapid.SampledFrom([]string{"", " ", `"`, "{", "}", ",", ":", "0", "-", "9999999999", "\\", "é", "\n", "null", `"type":"ok",`, "e1", ".5"}).Draw(t, "what")
			line = line[:at] + what + line[min(len(line), at+rapid.IntRange(0, 2).Draw(t, "cut")):]
		}
		var fast, slow Op
		p := newParser()
		if all++; !p.plain([]byte(line), &fast) || fast.Type == "" {
			return
		}
		took++
		p = newParser()
		p.line, p.pos = []byte(line), 0
		err := p.object(func(name []byte) error { return p.opField(name, &slow) })
		if err != nil || strings.TrimSpace(line[p.pos:]) != "" {
			t.Fatalf("%v, although the fast path took %s", err, line)
		}
		if !reflect.DeepEqual(fast, slow) {
			t.Fatalf("fast %+v\nslow %+v\n%s", fast, slow, line)
		}
	})
	if took == 0 {
		t.Errorf("the fast path took none of %d", all)
	}
}

// A history of an older version calls a note of a held client by another name.
func TestFormerNameOfHeld(t *testing.T) {
	for name, line := range map[string]string{
		"fast": `{"index":0,"time":7,"process":0,"type":"note","f":"gate","length":3}`,
		"slow": `{ "index":0, "time":7, "process":0, "type":"note", "f":"gate", "length":3}`,
	} {
		var op Op
		if err := newParser().op([]byte(line), &op); err != nil || op.F != Held || op.Length != 3 {
			t.Errorf("%s: %+v, %v", name, op, err)
		}
	}
}
