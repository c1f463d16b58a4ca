package formats

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
)

// TestFressianNumbers: whole numbers of every length, and strings beyond ASCII.
func TestFressianNumbers(t *testing.T) {
	var w fressianOut
	var want []string
	for shift := range 63 {
		for _, n := range []int64{1<<shift - 1, 1 << shift, -1 << shift, -1<<shift - 1} {
			w.int(n)
			want = append(want, (&fressian{}).of(whole, bigInt(string(binary.BigEndian.AppendUint64(nil, uint64(n))))).text)
		}
	}
	for _, s := range []string{"", "seven77", "eight888", "ü€😀", strings.Repeat("long ", 40)} {
		w.string(s)
		want = append(want, s)
	}
	p := &fressian{in: w.b}
	for _, text := range want {
		f, err := p.value(mostForms)
		if err != nil || f.text != text {
			t.Fatalf("got %q %v, want %q", f.text, err, text)
		}
	}
	if p.at != len(p.in) {
		t.Errorf("%d bytes are left", len(p.in)-p.at)
	}
}

// TestBlocks: a stored test gives its history and its verdict, and what is damaged an error.
func TestBlocks(t *testing.T) {
	history := []any{
		opOut{typ: "invoke", f: "acquire", process: 1, time: 5},
		mapOut{keywordOut("index"), int64(1), keywordOut("type"), keywordOut("info"), keywordOut("process"), keywordOut("nemesis"), keywordOut("f"), keywordOut("start"), keywordOut("value"), nil},
		opOut{index: 2, typ: "ok", f: "acquire", process: 1, time: 300, rest: mapOut{keywordOut("owner"), "a", keywordOut("error"), []any{keywordOut("x"), int64(9)}}},
	}
	text := storedTest(28, 2, history, false)
	format, told, events, err := drain(bytes.NewReader(text), Options{})
	if err != nil || format != "jepsen-blocks" || len(events) != 2 || events[1].Line != 3 || events[1].Owner != "a" || events[1].Time != 300 || !strings.Contains(told, "1 events of the nemesis") {
		t.Errorf("%s %v %+v\n%s", format, err, events, told)
	}
	if said := StoredVerdict(bytes.NewReader(text)); said != "false" {
		t.Errorf("its verdict is %q", said)
	}
	for n := range text {
		if _, _, events, err := drain(bytes.NewReader(text[:n]), Options{Format: "jepsen-blocks"}); err == nil {
			t.Errorf("cut off after %d bytes it is read: %v", n, events)
		}
		broken := bytes.Clone(text)
		broken[n] ^= 0x10
		if _, other, _, err := drain(bytes.NewReader(broken), Options{Format: "jepsen-blocks"}); err == nil && other != told {
			t.Errorf("damaged at byte %d it is read as\n%s", n, other)
		}
	}
	w := newBlocksOut(28)
	var vector []byte
	vector = binary.BigEndian.AppendUint64(vector, 4)
	for _, first := range []uint64{0, 2} {
		vector = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(vector, first), 3)
	}
	var stream, test fressianOut
	stream.value(history[0])
	stream.value(history[2])
	test.value(mapOut{keywordOut("history"), refOut(1)})
	w.add(1, 5, vector)
	w.add(2, 2, test.b)
	w.add(3, 4, stream.b)
	if _, _, _, err := drain(bytes.NewReader(w.end(2)), Options{}); err == nil || !strings.Contains(err.Error(), "block 3 comes twice") {
		t.Errorf("one block twice: %v", err)
	}
	if _, _, _, err := drain(bytes.NewReader([]byte("JEPSEN\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00")), Options{}); !errors.Is(err, errNoHistory) {
		t.Errorf("no index: %v", err)
	}
	if _, _, _, err := drain(bytes.NewReader([]byte("JEPSEN\x00\x00\x00\x09\x00\x00\x00\x00\x00\x00\x00\x12")), Options{}); err == nil || !strings.Contains(err.Error(), "version 9") {
		t.Errorf("a newer version: %v", err)
	}
}
