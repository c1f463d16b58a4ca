package wire

import (
	"bytes"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

// frameOf is an HTTP/2 frame.
func frameOf(kind, flags byte, stream int, payload string) string {
	n := len(payload)
	return string([]byte{byte(n >> 16), byte(n >> 8), byte(n), kind, flags, 0, 0, byte(stream >> 8), byte(stream)}) + payload
}

// hostile are streams that code under test may send, by what they try.
var hostile = map[string]struct {
	protocol Protocol
	bytes    string
}{
	"a line of blanks":                {Redis, "   \r\nPING\r\n"},
	"a line of odd blanks":            {Redis, "\u00a0\u2003\r\n"},
	"a line of control characters":    {Redis, "\v\f\r\n\x00\r\n"},
	"a blank value":                   {Redis, "*2\r\n \r\n$1\r\nx\r\n"},
	"2 GB of a string":                {Redis, "*1\r\n$2147483647\r\nx"},
	"2³¹ values of a map":             {Redis, "%2147483647\r\n:1\r\n"},
	"a length beyond all numbers":     {Redis, "*99999999999999999999\r\n"},
	"a name of two pieces":            {Redis, "*1\r\n$70\r\nab\r\n" + strings.Repeat("c", 66) + "\r\n"},
	"a long inline name":              {Redis, strings.Repeat("x", 5000) + "\r\n"},
	"a packet of nothing":             {ZooKeeper, "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01a"},
	"a packet of 2 GB":                {ZooKeeper, "\x7f\xff\xff\xff"},
	"a four-letter word":              {ZooKeeper, "srvr" + strings.Repeat("\x00\x00\x00\x08", 9)},
	"a message of 1 GB":               {Postgres, startup(196608, "") + "Q\x40\x00\x00\x00x"},
	"a message shorter than its head": {Postgres, startup(196608, "") + "Q\x00\x00\x00\x03"},
	"a length below 0":                {Postgres, "\xff\xff\xff\xff"},
	"a frame of 16 MB":                {HTTP2, preface + "\xff\xff\xff\x00\x00\x00\x00\x00\x01x"},
	"padding longer than its frame":   {HTTP2, preface + frameOf(0, 8, 1, "\xffx") + frameOf(1, 0x2c, 1, "\xff") + frameOf(1, 0x2c, 1, "")},
	"headers that are none":           {HTTP2, preface + frameOf(1, 4, 1, "\xff\xff\xff\xff\xff\xff\xff\xff")},
	"a table of 4 GB":                 {HTTP2, preface + frameOf(1, 4, 1, "\x3f\xe1\xff\xff\xff\x0f")},
	"a chunk of 2⁶³":                  {HTTP1, "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n7ffffffffffffffd\r\n"},
}

// Whatever the client sends, its parser does not panic, asks for no memory by what a
// length promises, and goes on where the stream does.
func TestHostileStreams(t *testing.T) {
	for name, c := range hostile {
		for _, request := range []bool{true, false} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			same(t, c.protocol, request, []byte(c.bytes), 1)
			runtime.ReadMemStats(&after)
			if grown := after.TotalAlloc - before.TotalAlloc; grown > 8<<20 {
				t.Errorf("%s took %d bytes of memory for %d of the stream", name, grown, len(c.bytes))
			}
		}
	}
	got, err := parser(t, Redis, true).Feed([]byte(hostile["a line of blanks"].bytes))
	if err != nil || len(got) != 2 || got[0].Name != "EMPTY" || got[1].Name != "PING" {
		t.Errorf("after a line of blanks: %+v, %v", got, err)
	}
}

// Streams that a client opens and never ends are forgotten, the oldest first.
func TestPathsAreBounded(t *testing.T) {
	h := newHTTP2(true).(*h2)
	path := "\x40\x05:path\x02/a" // a literal that enters the table, by name and value
	if _, err := h.Feed([]byte(preface)); err != nil {
		t.Fatal(err)
	}
	none := h.Kept()
	for i := range 3 * pathsMax {
		if _, err := h.Feed([]byte(frameOf(1, 4, i+1, path))); err != nil {
			t.Fatal(err)
		}
	}
	if kept := h.Kept() - none; kept < pathsMax*perPath || kept > 2*pathsMax*perPath {
		t.Errorf("%d bytes are kept of them", kept)
	}
	if len(h.paths) > pathsMax || h.paths[3*pathsMax] != "/a" {
		t.Errorf("%d paths are kept, the last is %q", len(h.paths), h.paths[3*pathsMax])
	}
	if _, err := h.Feed([]byte(frameOf(1, 5, 60001, path))); err != nil || h.paths[60001] != "" {
		t.Errorf("a stream that has ended is kept: %q, %v", h.paths[60001], err)
	}
}

// broken is a parser that panics at its second piece.
type broken struct{ pieces int }

func (b *broken) Feed([]byte) ([]Message, error) {
	if b.pieces++; b.pieces == 2 {
		panic("index out of range")
	}
	return []Message{{Name: "x", To: 1}}, nil
}

func (b *broken) Kept() int { return b.pieces }

// A panic is an error of that stream, and stays one: the parser is not asked again.
func TestAPanicIsAnError(t *testing.T) {
	in := &broken{}
	g := &guarded{of: "test", in: in}
	if got, err := g.Feed([]byte("a")); len(got) != 1 || err != nil {
		t.Fatal(got, err)
	}
	for range 3 {
		if got, err := g.Feed([]byte("a")); got != nil || err == nil || !strings.Contains(err.Error(), "index out of range") {
			t.Fatal(got, err)
		}
	}
	if in.pieces != 2 || g.Kept() != 0 {
		t.Errorf("asked %d times, and %d bytes are kept", in.pieces, g.Kept())
	}
}

// same holds that a stream's messages follow one another, are bounded, and are the same
// however it is cut into pieces. It asks the parser itself, so that a panic is one.
func same(t *testing.T, p Protocol, request bool, stream []byte, cut uint64) {
	t.Helper()
	whole, wholeErr := parsers[p](request).Feed(stream)
	at := int64(0)
	for _, m := range whole {
		if m.From != at || m.To <= at || len(m.Body) > BodyMax || len(m.Name) > headMax {
			t.Fatalf("%s: %+v after %d", p, m, at)
		}
		at = m.To
	}
	if at > int64(len(stream)) {
		t.Fatalf("%s: messages of %d bytes in a stream of %d", p, at, len(stream))
	}
	in := parsers[p](request)
	var pieces []Message
	var err error
	for rest := stream; len(rest) > 0 && err == nil; {
		cut = cut*6364136223846793005 + 1442695040888963407
		n := min(1+int(cut>>33)%11, len(rest))
		piece := bytes.Clone(rest[:n]) // what a parser keeps is its own
		var got []Message
		got, err = in.Feed(piece)
		clear(piece)
		pieces, rest = append(pieces, got...), rest[n:]
	}
	if (err == nil) != (wholeErr == nil) || len(pieces) != len(whole) {
		t.Fatalf("%s: %d messages whole (%v), %d in pieces (%v)", p, len(whole), wholeErr, len(pieces), err)
	}
	for i := range whole {
		if whole[i].Body = append([]byte{}, whole[i].Body...); !reflect.DeepEqual(whole[i], message(pieces[i])) {
			t.Fatalf("%s: whole %+v, in pieces %+v", p, whole[i], pieces[i])
		}
	}
}

func message(m Message) Message { m.Body = append([]byte{}, m.Body...); return m }

func fuzz(f *testing.F, p Protocol) {
	for _, s := range streams {
		if s.protocol == p {
			f.Add([]byte(s.bytes), s.request, uint64(len(s.bytes)))
		}
	}
	for _, c := range hostile {
		if c.protocol == p {
			f.Add([]byte(c.bytes), true, uint64(1))
			f.Add([]byte(c.bytes), false, uint64(2))
		}
	}
	f.Fuzz(func(t *testing.T, stream []byte, request bool, cut uint64) { same(t, p, request, stream, cut) })
}

func FuzzRedis(f *testing.F)     { fuzz(f, Redis) }
func FuzzZooKeeper(f *testing.F) { fuzz(f, ZooKeeper) }
func FuzzPostgres(f *testing.F)  { fuzz(f, Postgres) }
func FuzzHTTP1(f *testing.F)     { fuzz(f, HTTP1) }
func FuzzHTTP2(f *testing.F)     { fuzz(f, HTTP2) }
