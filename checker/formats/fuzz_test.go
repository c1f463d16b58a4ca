package formats

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/dlmtest/dlmtest/checker/models"
	"github.com/dlmtest/dlmtest/history"
)

// FuzzRead gives the reader of each format anything at all, and the one who finds out
// which it is: it must end, with an error that names the file, or with events of which
// every process keeps its rules.
func FuzzRead(f *testing.F) {
	names := []string{""}
	for _, format := range Formats() {
		names = append(names, format.Name)
	}
	add := func(text []byte) {
		for i := range names {
			f.Add(uint8(i), text)
		}
	}
	files, err := filepath.Glob("testdata/*.*")
	if err != nil || len(files) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		add(text)
	}
	for _, header := range []int{14, 28} {
		add(storedTest(header, 1, []any{opOut{typ: "invoke", f: "acquire"}, opOut{index: 1, typ: "ok", f: "acquire", rest: mapOut{keywordOut("owner"), "a"}}}, true))
	}
	for _, odd := range []string{"", "[", "({", `{:a #_ #_ b}`, "#a#b#c[]", "{:process 0N :type :invoke :f :read}", `["\ud800\u0041"]`, "#:a{:b \\{}", "\xef\xbb\xbf[]",
		`{"process":0,"f":"acquire","value":true,"call":0,"ret":1,"out":"ok"}`, "INFO - \t:invoke\t", " - 0 :ok :read 1 2\n", "# rmw\n0 rmw 0 1 1 2\n", `[ {"process":0,"type":"invoke","f":"lock","value":"a","time":0}, {"process":0,"type":"ok","f":"lock","value":"","time":0} ]`,
		"2019-01-01 00:00:00,1\tINFO\t[jepsen worker 1] jepsen.util: [ 7 ] 1\t:invoke\t:acquire\tnil\n", "{:process 0 :type :invoke :f :release}{:process 0 :type :ok :f :release :owner \"a\"}", "#{#{", "##Inf", "{{:a 1} 2}"} {
		add([]byte(odd))
	}
	f.Fuzz(func(t *testing.T, which uint8, text []byte) {
		_, _, events, err := drain(bytes.NewReader(text), Options{Format: names[int(which)%len(names)]})
		var at *Error
		if err != nil && (!errors.As(err, &at) || at.File != "file") {
			t.Errorf("an error without a place: %v", err)
		}
		keepRules(t, events)
		if err != nil || len(events) == 0 {
			return
		}
		var again bytes.Buffer
		if err := WriteEDN(&again, each(events), Lines); err != nil {
			return // such as some keys and some none
		}
		_, _, second, err := drain(&again, Options{Format: "jepsen"})
		if err != nil || len(second) != len(events) {
			t.Errorf("written as EDN it is %d events and not %d: %v\n%s", len(second), len(events), err, &again)
		}
	})
}

// keepRules checks what every decider assumes.
func keepRules(t *testing.T, events []models.Event) {
	open, gone := map[int]models.F{}, map[int]bool{}
	last := int64(0)
	for _, e := range events {
		f, busy := open[e.Process]
		if gone[e.Process] || busy == (e.Type == history.Invoke) || busy && f != e.F || e.Time != 0 && e.Time < last {
			t.Fatalf("%+v breaks the rules", e)
		}
		last = max(last, e.Time)
		if e.Token < 0 || e.Lease < 0 || e.Lease > furthest || e.Time > furthest || e.Process < 0 {
			t.Fatalf("%+v is out of range", e)
		}
		if delete(open, e.Process); e.Type == history.Invoke {
			open[e.Process] = e.F
		}
		gone[e.Process] = e.Type == history.Info
	}
}

// TestMemory gives readers what is made to eat memory. All that a reader holds at
// its end must stay within ten times the file, beside its fixed buffers.
func TestMemory(t *testing.T) {
	const size, buffers = 4 << 20, 4 << 20
	fill := func(start, again, end string) []byte {
		return append(append([]byte(start), bytes.Repeat([]byte(again), (size-len(start))/len(again))...), end...)
	}
	pending := func(format string) []byte {
		var b bytes.Buffer
		for i := 0; b.Len() < size; i++ {
			fmt.Fprintf(&b, format, i)
		}
		return b.Bytes()
	}
	for _, c := range []struct {
		name string
		text []byte
	}{
		{"deep", fill("{:error ", "[", "")},
		{"discards", fill("[", "#_", "]")},
		{"tags", fill("{:error ", "#a ", "")},
		{"string", fill(`{:error "`, "x", `"}`)},
		{"word", fill(`{:error `, "x", ` }`)},
		{"vector", fill(`{:process 0 :type :invoke :f :read :value [`, "1 ", `]}`)},
		{"maps", fill(`{:process 0 :type :invoke :f :read :value {`, "[] {} ", `}}`)},
		{"fields", fill(`{:process 0 :type :invoke :f :read `, ":x 1 ", `}`)},
		{"JSON deep", fill(`{"type": `, "[", "")},
		{"JSON string", fill(`{"type": "`, "x", `"}`)},
		{"JSON array", fill(`{"type": "invoke", "process": 0, "f": "read", "value": [1`, ",1", "]}")},
		{"JSON number", fill(`{"type": "invoke", "process": `, "9", "}")},
		{"log", fill("INFO jepsen.util - 0 :invoke :write ", "x", "\n")},
		{"log lines", fill("INFO jepsen.util - 0 :invoke :read nil\n", "\n", "")},
		{"pending", pending("{:process %d :type :invoke :f :read}\n")},
		{"unknown", pending("{:process %[1]d :type :invoke :f :read}{:process %[1]d :type :info :f :read}\n")},
		{"returns", pending(`{"process":%[1]d,"f":"read","value":1,"call":%[1]d,"ret":9999999999,"out":"ok"}` + "\n")},
	} {
		held := heldBy(c.text)
		if most := uint64(10*len(c.text) + buffers); held > most {
			t.Errorf("%s: %d bytes are held for a file of %d", c.name, held, len(c.text))
		}
	}
}

// heldBy is the most that is reachable while text is read, looked at now and then.
func heldBy(text []byte) (most uint64) {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	before := m.HeapAlloc
	look := func() {
		runtime.GC()
		if runtime.ReadMemStats(&m); m.HeapAlloc > before {
			most = max(most, m.HeapAlloc-before+m.StackInuse)
		}
	}
	r, err := Open(&watched{text: text, look: look}, "file", Options{})
	if err != nil {
		return most
	}
	for range r.Events() { // an error is fine here
	}
	look()
	runtime.KeepAlive(r)
	return most
}

// watched reads text and looks at the memory at each quarter of a megabyte.
type watched struct {
	text []byte
	at   int
	look func()
}

func (w *watched) Read(b []byte) (int, error) {
	if w.at == len(w.text) {
		return 0, io.EOF
	}
	n := copy(b, w.text[w.at:])
	if w.at>>19 != (w.at+n)>>19 {
		w.look()
	}
	w.at += n
	return n, nil
}
