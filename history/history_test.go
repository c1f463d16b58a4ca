package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	goparser "go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const headerLine = `{"dlmtest_history":1,"setup":{"promise":{},"lease":1000000000,"keys":["k"]}}` + "\n"

func TestRoundTrip(t *testing.T) {
	setup, ops := sample(5000)
	var file bytes.Buffer
	if err := Encode(&file, setup, ops); err != nil {
		t.Fatal(err)
	}
	gotSetup, got, err := Decode(&file)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(gotSetup, setup) {
		t.Errorf("setup: got %+v, want %+v", gotSetup, setup)
	}
	if !reflect.DeepEqual(got, ops) {
		t.Error("operations differ after a round trip")
	}
	if err := Validate(setup, got); err != nil {
		t.Error(err)
	}
}

// TestSameAsEncodingJSON holds the hand-written forms against the standard
// library, both ways, on operations with every field and odd strings.
func TestSameAsEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		op := anyOp(t)
		line := appendOp(nil, &op)
		var std Op
		if err := json.Unmarshal(line, &std); err != nil {
			t.Fatalf("encoding/json cannot read %s: %v", line, err)
		}
		if !reflect.DeepEqual(std, op) {
			t.Fatalf("encoding/json reads %+v, written was %+v", std, op)
		}
		indented, err := json.MarshalIndent(op, " ", "\t")
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range [][]byte{line, indented} {
			own := Op{Index: op.Index}
			if err := newParser().op(form, &own); err != nil {
				t.Fatalf("%s: %v", form, err)
			}
			if !reflect.DeepEqual(own, op) {
				t.Fatalf("%s: read %+v, want %+v", form, own, op)
			}
		}
	})
}

func anyOp(t *rapid.T) Op {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "client-1", "a\"b\\c", "ünï\x00\t<&>"}))
	number := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-2, 2))
	s := func(name string) string { return strings.ToValidUTF8(text.Draw(t, name), "") }
	n := func(name string) int64 { return number.Draw(t, name) }
	copies := func(name string) *Copy {
		if rapid.Bool().Draw(t, name) {
			return nil
		}
		return &Copy{Value: s("value"), Base: s("base"), Accepted: rapid.Bool().Draw(t, "accepted"), Previous: s("previous"), Token: n("token")}
	}
	op := Op{
		Index: int(n("index")), Time: n("time"), Mono: n("mono"), Real: n("real"), Node: s("node"), Process: int(n("process")),
		Type: rapid.SampledFrom([]Type{Invoke, OK, Fail, Info, Note}).Draw(t, "type"), F: F(s("f")), Key: s("key"),
		Owner: s("owner"), Token: n("token"), Sent: n("sent"), Lease: n("lease"), Deadline: n("deadline"),
		Mode: Mode(s("mode")), Permits: int32(n("permits")), Depth: int32(n("depth")), Limit: n("limit"), Busy: rapid.Bool().Draw(t, "busy"),
		Value: s("value"), Unfenced: copies("unfenced"), Fenced: copies("fenced"), Length: n("length"), Error: s("error"),
	}
	if rapid.Bool().Draw(t, "fault") {
		op.Fault = &FaultNote{ID: int(n("id")), Kind: s("kind"), Target: s("target"), Phase: Phase(s("phase")), Proof: s("proof"), Lasted: n("lasted"),
			Whole: rapid.Bool().Draw(t, "whole")}
		for range rapid.IntRange(0, 3).Draw(t, "cut") {
			op.Fault.Cut = append(op.Fault.Cut, s("peer"))
		}
	}
	return op
}

func TestDecodeErrors(t *testing.T) {
	good := `{"index":0,"time":1,"process":1,"type":"invoke","f":"try"}` + "\n"
	for _, c := range []struct{ name, file, want string }{
		{"empty", "", "line 1: no header"},
		{"half a header", `{"dlmtest_his`, "line 1: no header"},
		{"no history", "{}\n", `line 1: not a dlmtest history`},
		{"not JSON", "hello\n", "line 1: not a dlmtest history"},
		{"newer", `{"dlmtest_history":2,"setup":{"new":1}}` + "\n", "line 1: written by a newer dlmtest: version 2, this one reads up to 1"},
		{"setup", `{"dlmtest_history":1,"setup":{"leese":1}}` + "\n", `line 1: setup: unknown field "leese" at /setup/leese`},
		{"no lease", `{"dlmtest_history":1,"setup":{"keys":["k"]}}` + "\n", "line 1: setup: lease 0s: want more than 0s and at most 24h0m0s"},
		{"endless lease", `{"dlmtest_history":1,"setup":{"lease":9223372036854775807,"keys":["k"]}}` + "\n", "line 1: setup: lease 2562047h47m16.854775807s: want"},
		{"negative bound", `{"dlmtest_history":1,"setup":{"promise":{"bound":-1},"lease":1,"keys":["k"]}}` + "\n", "line 1: setup: bound -1ns: want 0s to"},
		{"negative drift", `{"dlmtest_history":1,"setup":{"promise":{"drift_fixed":-1},"lease":1,"keys":["k"]}}` + "\n", "line 1: setup: drift_fixed -1ns: want 0s to"},
		{"drift", `{"dlmtest_history":1,"setup":{"promise":{"drift_factor":1.5},"lease":1,"keys":["k"]}}` + "\n", "line 1: setup: drift_factor 1.5: want 0 to 1"},
		{"no keys", `{"dlmtest_history":1,"setup":{"lease":1,"keys":[]}}` + "\n", "line 1: setup: keys: the list is empty"},
		{"empty key", `{"dlmtest_history":1,"setup":{"lease":1,"keys":["k",""]}}` + "\n", "line 1: setup: keys: name 2 is empty"},
		{"promise twice", `{"dlmtest_history":1,"setup":{"promise":{"leased":true,"leased":false},"lease":1,"keys":["k"]}}` + "\n", `duplicate object member name "leased"`},
		{"no promise", `{"dlmtest_history":1,"setup":{"lease":1,"keys":["k"]}}` + "\n", "line 1: setup: promise is missing"},
		{"other letters", `{"dlmtest_history":1,"setup":{"Lease":1,"keys":["k"]}}` + "\n", `unknown field "Lease" at /setup/Lease`},
		{"beside the setup", `{"dlmtest_history":1,"setup":{"lease":1,"keys":["k"]},"strict":true}` + "\n", `unknown field "strict" at /strict`},
		{"fencing", `{"dlmtest_history":1,"setup":{"lease":1,"keys":["k"],"fencing":"exact"}}` + "\n", `line 1: setup: fencing "exact": want one of ["at-least" "strict"], or nothing`},
		{"fence on", `{"dlmtest_history":1,"setup":{"lease":1,"keys":["k"],"fence_on":"never"}}` + "\n", `line 1: setup: fence_on "never": want`},
		{"self-fence", `{"dlmtest_history":1,"setup":{"lease":1,"keys":["k"],"self_fence":"yes"}}` + "\n", `line 1: setup: self_fence "yes": want`},
		{"reentry", `{"dlmtest_history":1,"setup":{"promise":{"reentry":"node"},"lease":1,"keys":["k"]}}` + "\n", `line 1: setup: reentry "node": want`},
		{"use", `{"dlmtest_history":1,"setup":{"lease":1,"keys":["k"],"use":{"name":"shop"}}}` + "\n", `line 1: setup: use "shop": want`},
		{"stock", `{"dlmtest_history":1,"setup":{"lease":1,"keys":["k"],"use":{"stock":-1}}}` + "\n", `want a stock and blocks of at least 0`},
		{"keys twice", `{"dlmtest_history":1,"setup":{"lease":1,"keys":["k","l","k"]}}` + "\n", `line 1: setup: keys: "k" comes twice`},
		{"servers twice", `{"dlmtest_history":1,"setup":{"lease":1,"keys":["k"],"servers":["s","s"]}}` + "\n", `servers: "s" comes twice`},
		{"client and server", `{"dlmtest_history":1,"setup":{"lease":1,"keys":["k"],"clients":["c"],"servers":["c"]}}` + "\n", `servers: "c" is a client, too`},
		{"a line is missing", headerLine + `{"index":1,"time":1,"type":"note","f":"final"}` + "\n", "line 2: column 11: the index is 1, and it is operation 0 of the file"},
		{"not UTF-8", headerLine + "{\"time\":1,\"type\":\"note\",\"f\":\"final\",\"node\":\"\xff\"}\n", "line 2: not UTF-8"},
		{"expect", `{"dlmtest_history":1,"setup":{"lease":1,"keys":["k"],"expect":{"contention":-1}}}` + "\n", `nothing can be seen less than 0 times`},
		{"number twice", headerLine + `{"time":1,"type":"ok","time":2}` + "\n", `line 2: column 29: field "time" comes twice`},
		{"name twice", headerLine + `{"type":"ok","f":"try","f":"acquire"}` + "\n", `line 2: column 27: field "f" comes twice`},
		{"rare twice", headerLine + `{"type":"fail","busy":true,"busy":false}` + "\n", `line 2: column 34: field "busy" comes twice`},
		{"part twice", headerLine + `{"type":"ok","fenced":{"token":1,"token":2}}` + "\n", `line 2: column 41: field "token" comes twice`},
		{"blank twice", headerLine + `{ "type":"ok", "key":"a", "key":"b"}` + "\n", `line 2: column 32: field "key" comes twice`},
		{"no list", headerLine + `{"type":"note","fault":{"cut":"a"}}` + "\n", "line 2: column 31: want a list"},
		{"list", headerLine + `{"type":"note","fault":{"cut":["a" "b"]}}` + "\n", "want a comma or the end of the list"},
		{"field", headerLine + good + `{"time":1,"tokn":2}` + "\n", `line 3: column 18: unknown field "tokn"`},
		{"type", headerLine + `{"type":"done"}` + "\n", `line 2: type "done"`},
		{"number", headerLine + `{"time":1.5,"type":"ok"}` + "\n", "line 2: column 10: want a comma"},
		{"overflow", headerLine + `{"time":9223372036854775808,"type":"ok"}` + "\n", "beyond 64 bits"},
		{"blank", headerLine + good + "\n" + good, "line 3: column 2: want an object"},
		{"two", headerLine + `{"type":"ok"}{"type":"ok"}` + "\n", "line 2: column 14: something follows"},
		{"long", headerLine + `{"error":"` + strings.Repeat("x", LineLimit), "line 2: longer than 1048576 bytes"},
	} {
		_, _, err := Decode(strings.NewReader(c.file))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

// TestValidateValues: a completion says the value of its call, or none.
func TestValidateValues(t *testing.T) {
	setup, ops := sample(40)
	i := slices.IndexFunc(ops, func(op Op) bool { return op.F == Write && op.Type == OK })
	if ops[i].Value = ""; Validate(setup, ops) != nil {
		t.Errorf("none: %v", Validate(setup, ops))
	}
	ops[i].Value = "another"
	if err := Validate(setup, ops); err == nil || !strings.Contains(err.Error(), "invoked it with value") {
		t.Errorf("another: %v", err)
	}
}

// What the resource says of a write names the owner of the write.
func TestValidateOwnersOfEffects(t *testing.T) {
	setup, _ := sample(0)
	for owner, want := range map[string]string{"a": "", "b": `line 2 wrote "v" for owner "a"`} {
		err := Validate(setup, []Op{{Type: Invoke, F: Write, Owner: "a", Value: "v"}, {Index: 1, Type: Note, F: Apply, Owner: owner, Value: "v"}})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", owner, err, want)
		}
	}
}

// TestValidateNotes: every note that this package names is known, and no other.
func TestValidateNotes(t *testing.T) {
	setup, _ := sample(0)
	for _, f := range namesOfType(t, "F") {
		err := Validate(setup, []Op{{Type: Note, F: f, Fault: &FaultNote{ID: 1, Kind: "pause", Phase: Begin}}})
		if known := err == nil; known == slices.Contains(operations, f) {
			t.Errorf("a note %s: %v", f, err)
		}
	}
	fault := func(kind string) Op {
		return Op{Type: Note, F: Fault, Fault: &FaultNote{ID: 1, Kind: kind, Target: "n", Phase: Begin}}
	}
	for want, ops := range map[string][]Op{
		`line 2 (note fault of process 0 on ""): fault 1 has the kind "flood": want one of ["pause"`: {fault("flood")},
		`line 2 (note fault of process 0 on ""): fault 1 has the kind "": want one of ["pause"`:      {fault("")},
	} {
		if err := Validate(setup, ops); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	err := Validate(setup, []Op{{Type: Note, F: "loss"}})
	if err == nil || err.Error() != `line 2 (note loss of process 0 on ""): "loss" is no note that is known` {
		t.Error(err)
	}
}

// namesOfType are the constants of a type of strings in this package.
func namesOfType(t *testing.T, name string) (all []F) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		file, err := goparser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == 1 {
				if of, ok := v.Type.(*ast.Ident); ok && of.Name == name {
					text, _ := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
					all = append(all, F(text))
				}
			}
			return true
		})
	}
	if len(all) < len(operations)+len(notes) {
		t.Fatalf("found only %q", all)
	}
	return all
}

// TestValidateRange: nothing with which the judge's arithmetic could overflow is judged.
func TestValidateRange(t *testing.T) {
	setup, _ := sample(0)
	if err := Validate(Setup{Keys: setup.Keys}, nil); err == nil || !strings.Contains(err.Error(), "setup: lease 0s") {
		t.Errorf("no lease: got %v", err)
	}
	for _, c := range []struct {
		op   Op
		want string
	}{
		{Op{Type: Note, Time: 1<<60 + 1}, "time 1152921504606846977 ns is beyond 36 years"},
		{Op{Type: Note, Mono: -1 << 61}, "mono -2305843009213693952 ns is beyond"},
		{Op{Type: Note, Sent: 1 << 61}, "sent"},
		{Op{Type: Note, Deadline: 1 << 61}, "deadline"},
		{Op{Type: Note, F: Stall, Length: -1}, "length -1 ns is negative"},
		{Op{Type: Invoke, F: Try, Lease: -1}, "lease -1 ns is negative"},
		{Op{Type: Note, F: Holder, Lease: -1}, ""},
		{Op{Type: Note, F: HostClock, Length: -1}, ""},
		{Op{Type: Note, F: Apply, Fenced: &Copy{Token: -1}}, "token -1 of the fenced copy is negative"},
		{Op{Type: Note, F: Holder, Time: 2, Sent: 2}, ""},
		{Op{Type: Note, F: Holder, Time: 2, Sent: 3}, "sent at 3, after its own time 2"},
		{Op{Type: Invoke, F: Extend, Owner: "a"}, ""},
	} {
		err := Validate(setup, []Op{c.op})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: got %v, want %q", c.op, err, c.want)
		}
	}
}

func TestTruncated(t *testing.T) {
	setup, ops := sample(10)
	var file bytes.Buffer
	if err := Encode(&file, setup, ops); err != nil {
		t.Fatal(err)
	}
	whole := file.Bytes()
	_, got, err := Decode(bytes.NewReader(whole[:len(whole)-5]))
	if !errors.Is(err, ErrTruncated) || !strings.Contains(err.Error(), "line 11") || len(got) != 9 {
		t.Errorf("cut inside the last line: %d operations, %v", len(got), err)
	}
	if _, got, err = Decode(bytes.NewReader(whole[:len(whole)-1])); err != nil || len(got) != 10 {
		t.Errorf("only the last newline missing: %d operations, %v", len(got), err)
	}
}

func TestSort(t *testing.T) {
	ops := []Op{{Time: 1, Key: "a"}, {Time: 5, Key: "b"}, {Time: 0, Key: "c"}, {Time: 5, Key: "d"}, {Time: 2, Key: "e"}}
	Sort(ops)
	var order []string
	for i, op := range ops {
		if op.Index != i {
			t.Errorf("index of %q: %d, want %d", op.Key, op.Index, i)
		}
		order = append(order, op.Key)
	}
	if got := strings.Join(order, ""); got != "caebd" {
		t.Errorf("order %s, want caebd", got)
	}
}

// slowDisk fails after some writes.
type slowDisk struct {
	bytes.Buffer
	writes, failAt int
}

func (d *slowDisk) Write(b []byte) (int, error) {
	if d.writes++; d.failAt > 0 && d.writes >= d.failAt {
		return 0, errors.New("no space left on device")
	}
	return d.Buffer.Write(b)
}

func TestWriterFlushesByItself(t *testing.T) {
	lines := make(lineWriter, 10)
	w, err := NewWriter(lines, Setup{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Append(Op{Time: 1, Type: Note}, Op{Time: 2, Type: Note}); err != nil {
		t.Fatal(err)
	}
	for range 3 { // the header and both operations
		select {
		case <-lines:
		case <-time.After(20 * FlushEvery):
			t.Fatal("nothing came without a Flush")
		}
	}
}

// lineWriter delivers each line that is written.
type lineWriter chan string

func (w lineWriter) Write(b []byte) (int, error) {
	for line := range bytes.Lines(b) {
		w <- string(line)
	}
	return len(b), nil
}

func TestWriterKeepsItsError(t *testing.T) {
	disk := &slowDisk{failAt: 2}
	w, err := NewWriter(disk, Setup{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Append(Op{Type: Note}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := w.Sync(); err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("got %v", err)
		}
	}
	if err := w.Append(Op{Type: Note}); err == nil {
		t.Error("an append after an error said nothing")
	}
}

func FuzzDecode(f *testing.F) {
	setup, ops := sample(30)
	var file bytes.Buffer
	if err := Encode(&file, setup, ops); err != nil {
		f.Fatal(err)
	}
	f.Add(file.Bytes())
	f.Add(file.Bytes()[:file.Len()/2])
	f.Add([]byte(headerLine + `{"type":"note","f":"fault","fault":{"id":1,"kind":"pause","target":"c","phase":"begin","cut":["a","b"]}}` + "\n"))
	f.Add([]byte(headerLine + ` { "type" : "ok" , "error":"\u00fc\"", "fenced": null, "unfenced":{} , "time":-9223372036854775808 }`))
	f.Add([]byte(headerLine + "{\"type\":\"ok\",\"error\":\"\\"))
	f.Fuzz(func(t *testing.T, data []byte) {
		setup, ops, err := Decode(bytes.NewReader(data))
		if err != nil && !errors.Is(err, ErrTruncated) {
			return
		}
		var again bytes.Buffer
		if err := Encode(&again, setup, ops); err != nil {
			t.Fatal(err)
		}
		_, ops2, err := Decode(&again)
		if err != nil {
			t.Fatalf("cannot read what was written: %v", err)
		}
		if fmt.Sprintf("%+v", ops) != fmt.Sprintf("%+v", ops2) && !reflect.DeepEqual(ops, ops2) {
			t.Fatal("a second round trip changed the history")
		}
		_ = Validate(setup, ops2)
	})
}

func BenchmarkDecode(b *testing.B) {
	for _, n := range []int{1e4, 1e5, 1e6} {
		setup, ops := sample(n)
		var file bytes.Buffer
		if err := Encode(&file, setup, ops); err != nil {
			b.Fatal(err)
		}
		ops = nil
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(file.Len()))
			b.ReportAllocs()
			for b.Loop() {
				if _, got, err := Decode(bytes.NewReader(file.Bytes())); err != nil || len(got) != n {
					b.Fatal(len(got), err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/operation")
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	setup, ops := sample(1e5)
	var file bytes.Buffer
	for b.Loop() {
		file.Reset()
		if err := Encode(&file, setup, ops); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1e5, "ns/operation")
}
