package wire

import (
	"bytes"
	"encoding/binary"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"pgregory.net/rapid"
)

// parser makes one direction of a protocol.
func parser(t interface{ Fatal(...any) }, p Protocol, request bool) Parser {
	a, b, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	if request {
		return a
	}
	return b
}

// jute is a ZooKeeper packet of 32-bit words and a tail.
func jute(tail string, words ...int32) string {
	var b []byte
	for _, w := range words {
		b = binary.BigEndian.AppendUint32(b, uint32(w))
	}
	b = append(b, tail...)
	return string(binary.BigEndian.AppendUint32(nil, uint32(len(b)))) + string(b)
}

// pg is a typed PostgreSQL message.
func pg(kind, body string) string {
	return kind + string(binary.BigEndian.AppendUint32(nil, uint32(len(body)+4))) + body
}

func startup(code uint32, body string) string {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(body)+8))
	return string(binary.BigEndian.AppendUint32(b, code)) + body
}

// call is the client's side of a connection that makes two gRPC calls.
func call() string {
	var b, block bytes.Buffer
	b.WriteString(preface)
	f := http2.NewFramer(&b, nil)
	_ = f.WriteSettings()
	enc := hpack.NewEncoder(&block)
	for _, stream := range []uint32{1, 3} { // the second's path is an index into the table
		block.Reset()
		_ = enc.WriteField(hpack.HeaderField{Name: ":method", Value: "POST"})
		_ = enc.WriteField(hpack.HeaderField{Name: ":path", Value: "/etcdserverpb.KV/Txn"})
		head, tail := block.Bytes()[:1], block.Bytes()[1:]
		_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: head, PadLength: 3})
		_ = f.WriteContinuation(stream, true, tail)
		_ = f.WriteDataPadded(stream, true, []byte("put"), make([]byte, 4))
	}
	return b.String()
}

// streams are whole connections and the names and a part of the bodies in them.
var streams = []struct {
	name     string
	protocol Protocol
	request  bool
	bytes    string
	want     []string // name, or name: a part of the body
}{
	{"redis commands", Redis, true, "*3\r\n$3\r\nset\r\n$1\r\nk\r\n$4\r\n\r\nv\n\r\n*1\r\n$4\r\nPING\r\nget k\r\n\r\n*0\r\n*2\r\n$0\r\n\r\n$-1\r\n",
		[]string{"SET:\r\nv\n", "PING", "GET: k", "EMPTY", "*", "*"}},
	{"redis replies", Redis, false, "+OK\r\n-ERR no\r\n:1\r\n$-1\r\n*-1\r\n*2\r\n*1\r\n:1\r\n%1\r\n+a\r\n,1.5\r\n$2\r\nhi\r\n_\r\n>2\r\n$1\r\nx\r\n#t\r\n",
		[]string{"+OK", "-ERR", ":1", "$-1", "*", "*:1.5", "$2:hi", "_", ">2"}},
	{"zookeeper requests", ZooKeeper, true, jute("", 0, 0, 0, 4000) + jute("/lock/k", 1, 1) + jute("/lock", 2, 8) + jute("", -2, 11) + jute("", 3, 77) + jute("", 9),
		[]string{"connect", "create:/lock/k", "getChildren:/lock", "ping", "opcode77", "short"}},
	{"zookeeper answers", ZooKeeper, false, jute("", 0, 4000, 1, 2) + jute("/lock/k1", 1, 0, 7, 0) + jute("", -1, 0, 0, 0) + jute("", -2, 0, 0, 0),
		[]string{"connect", "reply:/lock/k1", "notification", "ping"}},
	{"postgres frontend", Postgres, true, startup(sslRequest, "") + startup(196608, "user\x00me\x00") + pg("p", "pw") + pg("Q", "COMMIT\x00") + pg("P", "s1\x00select 1\x00") + pg("S", "") + pg("?", ""),
		[]string{"ssl", "startup:me", "Password", "Query:COMMIT", "Parse:select", "Sync", "?"}},
	{"postgres backend", Postgres, false, "N" + pg("R", "\x00\x00\x00\x00") + pg("S", "a\x00b\x00") + pg("Z", "I") + pg("N", "note"),
		[]string{"N", "Authentication", "ParameterStatus", "ReadyForQuery:I", "NoticeResponse"}},
	{"postgres without ssl", Postgres, false, pg("R", "\x00\x00\x00\x00") + pg("Z", "I"), []string{"Authentication", "ReadyForQuery"}},
	{"http2", HTTP2, true, call(), []string{"PREFACE", "SETTINGS", "HEADERS", "HEADERS:/etcdserverpb.KV/Txn", "DATA:KV/Txn\nput",
		"HEADERS", "HEADERS:/etcdserverpb.KV/Txn", "DATA:KV/Txn\nput"}},
	{"http1 requests", HTTP1, true, "POST /api/v1/locks/acquire HTTP/1.1\r\nHost: x\r\ncontent-length: 7\r\n\r\n{\"a\":1}" +
		"GET /api/v1/locks/k HTTP/1.1\r\nHost: x\r\n\r\nPOST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nTrailer: 1\r\n\r\nPUT / HTTP/1.0\n\n",
		[]string{"POST:{\"a\":1}", "GET:/locks/k", "POST:0123456789", "PUT"}},
	{"http1 answers", HTTP1, false, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 409 Conflict\r\ncontent-length:3\r\n\r\nno\n",
		[]string{"100", "200:{}", "204", "409:no"}},
}

func TestMessages(t *testing.T) {
	for _, s := range streams {
		t.Run(s.name, func(t *testing.T) {
			got, err := parser(t, s.protocol, s.request).Feed([]byte(s.bytes))
			if err != nil || len(got) != len(s.want) {
				t.Fatalf("%d messages, %v, want %d: %+v", len(got), err, len(s.want), got)
			}
			at := int64(0)
			for i, m := range got {
				name, body, _ := strings.Cut(s.want[i], ":")
				if s.want[i][0] == ':' {
					name, body = s.want[i], ""
				}
				if m.Name != name || !strings.Contains(string(m.Body), body) {
					t.Errorf("message %d: %q %q, want %q", i, m.Name, m.Body, s.want[i])
				}
				if m.From != at || m.To <= m.From {
					t.Errorf("message %d: bytes %d to %d, the last one ended at %d", i, m.From, m.To, at)
				}
				at = m.To
			}
			if at != int64(len(s.bytes)) {
				t.Errorf("%d of %d bytes are in messages", at, len(s.bytes))
			}
		})
	}
}

// However a stream is cut into pieces, the messages are the same.
func TestPiecesDoNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom(streams).Draw(t, "stream")
		want, _ := parser(t, s.protocol, s.request).Feed([]byte(s.bytes))
		p := parser(t, s.protocol, s.request)
		var got []Message
		for rest := []byte(s.bytes); len(rest) > 0; {
			n := rapid.IntRange(1, min(len(rest), 9)).Draw(t, "piece")
			part, err := p.Feed(rest[:n])
			if err != nil {
				t.Fatal(err)
			}
			got, rest = append(got, part...), rest[n:]
		}
		for i := range got {
			if len(got[i].Body) == 0 && len(want[i].Body) == 0 {
				got[i].Body, want[i].Body = nil, nil
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: %+v, whole %+v", s.name, got, want)
		}
	})
}

// Whatever comes, a parser neither panics nor keeps much, and its messages follow
// one another.
func TestNoise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := parser(t, rapid.SampledFrom(Protocols).Draw(t, "protocol"), rapid.Bool().Draw(t, "request"))
		at := int64(0)
		for range 4 {
			got, _ := p.Feed(rapid.SliceOf(rapid.SampledFrom([]byte("*$1\r\n:-0\x00\x04SQN\x01"))).Draw(t, "noise"))
			for _, m := range got {
				if m.From != at || m.To <= at || len(m.Body) > BodyMax+64 {
					t.Fatalf("%+v after %d", m, at)
				}
				at = m.To
			}
		}
	})
}

func TestWhatIsNotUnderstood(t *testing.T) {
	for name, c := range map[string]struct {
		protocol Protocol
		request  bool
		bytes    string
	}{
		"tls on http2":            {HTTP2, true, "\x16\x03\x01" + strings.Repeat("x", 30)},
		"tls on http1":            {HTTP1, true, "\x16\x03\x01" + strings.Repeat("x", 30) + "\n\n"},
		"a bad http1 length":      {HTTP1, true, "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n"},
		"a bad http1 chunk":       {HTTP1, true, "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n"},
		"an http1 chunk of 2⁶³":   {HTTP1, true, "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\n"},
		"an endless http1 header": {HTTP1, true, strings.Repeat("x", headMax+1)},
		"encrypted postgres":      {Postgres, false, "S"},
		"http to postgres":        {Postgres, true, "GET / HTTP/1.1\r\n"},
		"http to zookeeper":       {ZooKeeper, true, "GET / HTTP/1.1\r\n"},
		"a huge packet":           {ZooKeeper, true, "\x7f\xff\xff\xff"},
		"arrays without end":      {Redis, true, strings.Repeat("*1\r\n", depthMax+1)},
		"a blank in an array":     {Redis, true, "*1\r\n   \r\n"},
		"a word in an array":      {Redis, true, "*1\r\nPING\r\n"},
		"headers without end":     {HTTP2, true, preface + frameOf(1, 0, 1, "") + strings.Repeat(frameOf(9, 0, 1, strings.Repeat("x", BodyMax)), blockMax/BodyMax+1)},
		"a bad redis length":      {Redis, true, "*x\r\n"},
		"an endless line":         {Redis, true, strings.Repeat("x", lineMax+1)},
	} {
		if _, err := parser(t, c.protocol, c.request).Feed([]byte(c.bytes)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, _, err := New("smtp"); err == nil {
		t.Error("an unknown protocol was taken")
	}
}

// Of a big message the beginning is kept, and its end is found all the same.
func TestBigMessage(t *testing.T) {
	big := strings.Repeat("x", 1<<20)
	for name, c := range map[string]struct {
		protocol Protocol
		bytes    string
	}{
		"redis":     {Redis, "*2\r\n$4\r\nEVAL\r\n$1048576\r\n" + big + "\r\n"},
		"zookeeper": {ZooKeeper, jute(big, 1, 1)},
		"http1":     {HTTP1, "POST / HTTP/1.1\r\nContent-Length: 1048576\r\n\r\n" + big},
	} {
		got, err := parser(t, c.protocol, true).Feed([]byte(c.bytes))
		if err != nil || len(got) != 1 || got[0].To != int64(len(c.bytes)) || len(got[0].Body) != BodyMax {
			t.Errorf("%s: %d messages, %v", name, len(got), err)
		}
	}
}

// Whatever net/http writes is read as one message, and its content stays in it.
func TestHTTP1AgainstNetHTTP(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b bytes.Buffer
		var want []string
		for range rapid.IntRange(1, 4).Draw(t, "messages") {
			content := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "content")
			body := io.Reader(bytes.NewReader(content))
			if rapid.Bool().Draw(t, "chunked") {
				body = io.MultiReader(body) // of no known length
			}
			r, err := http.NewRequest(rapid.SampledFrom([]string{"POST", "PUT", "GET"}).Draw(t, "method"), "http://x/api", body)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Write(&b); err != nil {
				t.Fatal(err)
			}
			want = append(want, r.Method)
		}
		got, err := newHTTP1(true).Feed(b.Bytes())
		if err != nil || len(got) != len(want) || got[len(got)-1].To != int64(b.Len()) {
			t.Fatalf("%d messages of %d, %v: %q", len(got), len(want), err, b.String())
		}
		for i, m := range got {
			if m.Name != want[i] {
				t.Errorf("message %d is %q, want %q", i, m.Name, want[i])
			}
		}
	})
}
