package protocol_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/locks/protocol"
)

// FuzzReader: whatever is printed, each line is a message within its bounds or a fault,
// and the reader comes to an end.
func FuzzReader(f *testing.F) {
	for _, line := range []string{
		`{"id":1,"ok":{"version":1,"name":"x","library":"1","offers":["try","extend"]}}`,
		`{"id":3,"ok":{"grant":"g1","token":12,"deadline_ns":123,"sent_ns":5}}`,
		`{"id":4,"error":{"code":"not-held","message":"…"}}`,
		`{"event":"lost","grant":"g1","why":"expired","at_ns":5}`,
		`{"id":1,"ok":{},"error":null}`, `{"id":1,"id":1,"ok":{}}`, `{"ID":1,"ok":{}}`, `{"id":1e300,"ok":{}}`,
		`{"id":-1,"ok":{}}`, `[]`, `null`, ``, `{`, `{"id":1,"ok":{}} x`, strings.Repeat("[", 100), strings.Repeat(`{"a":`, 100),
		"{\"id\":1,\"ok\":{\"name\":\"\xff\"}}", `{"event":"lost"}` + "\r", strings.Repeat("x", protocol.LineMax),
	} {
		f.Add([]byte(line + "\n"))
	}
	f.Add([]byte(`{"id":1,"ok":{}}`)) // no end of line
	f.Fuzz(func(t *testing.T, text []byte) {
		r := protocol.NewReader(bytes.NewReader(text))
		for range len(text) + 2 {
			a, e, err := r.Next()
			var fault *protocol.Fault
			switch {
			case errors.Is(err, io.EOF):
				return
			case errors.As(err, &fault):
				if fault.Detail == "" || protocol.Advice[fault.Kind] == "" || len(fault.Error()) > 2000 {
					t.Fatalf("%q: the fault %+v says too little or too much", text, fault)
				}
				return // nothing is read after a fault
			case err != nil:
				t.Fatalf("%q: %v is neither an end nor a fault", text, err)
			case (a == nil) == (e == nil):
				t.Fatalf("%q: answer %v and event %v", text, a, e)
			case a != nil && (a.ID < 1 || (a.OK == nil) == (a.Error == nil)):
				t.Fatalf("%q: answer %+v", text, a)
			}
		}
		t.Fatalf("%q: the reader does not end", text)
	})
}
