package links

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"

	"github.com/dlmtest/dlmtest/internal/eventually"
	"github.com/dlmtest/dlmtest/nemesis/agent/links/wire"
)

// What kills a parser neither kills the link nor costs a byte, and it is told once.
func TestUnparsedIsPassedOnAndTold(t *testing.T) {
	told := make(chan Unparsed, 9)
	all, err := Open(map[string]string{"redis-1": echo(t)}, Options{Protocol: map[string]wire.Protocol{"redis-1": wire.Redis},
		Unparsed: func(u Unparsed) { told <- u }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = all.Close() })
	l, _ := all.Link("redis-1")
	f := must(t)(l.HoldRequest(When{Name: "SET"}))
	for range 3 {
		c := dial(t, l.Addr())
		c.say("   ")
		if line, err := c.in.ReadString('\n'); line != "   \r\n" {
			t.Fatalf("a line of blanks came as %q, %v", line, err)
		}
		c.does("PING", "PING")
		c.does("*x", "*x")
		c.does("SET k v", "SET k v") // not seen any more
	}
	if p := f.Proof(); p.Hit != nil || p.Trouble == "" {
		t.Errorf("proof %s", p)
	}
	if late := must(t)(l.HoldAnswer(When{Name: "GET"})); late.Trouble() != "" {
		t.Errorf("a fault knows of what was before it: %s", late.Trouble())
	}
	for range 2 { // one direction and the other
		select {
		case u := <-told:
			if u.Link != "redis-1" || !strings.Contains(u.String(), "link to redis-1 is not understood from byte 11") {
				t.Errorf("%s", u)
			}
		case <-time.After(eventually.Most):
			t.Fatal("nobody was told")
		}
	}
	if len(told) > 0 {
		t.Errorf("told again: %s", <-told)
	}
}

// FuzzLink holds that what leaves a valve is what came to it, byte for byte, however it is
// cut, whatever the parser makes of it, and whether or not a message is held on the way.
func FuzzLink(f *testing.F) {
	for i, stream := range []string{"   \r\n", "*1\r\n$3\r\nSET\r\n*x\r\nSET\r\n", "\x00\x00\x00\x08\x00\x00\x00\x01\x00\x00\x00\x01",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00", "GET / HTTP/1.1\r\n\r\n", "\x00\x00\x00\x08\x04\xd2\x16\x2fN"} {
		f.Add([]byte(stream), uint8(i), uint64(i))
	}
	f.Fuzz(func(t *testing.T, sent []byte, protocol uint8, cut uint64) {
		l := &Link{protocol: wire.Protocols[int(protocol)%len(wire.Protocols)], told: map[Direction]bool{}, passed: map[Passed]int{}, room: newRoom(roomMax)}
		c := newConn(l, 1, nil, nil)
		flow := c.request
		hold := newFault(l, "hold-request", When{})
		if cut%2 == 0 {
			flow.hold(hold, int64(cut>>1)%int64(len(sent)+1))
		}
		in, out := make(chan *stream.StreamChunk), make(chan *stream.StreamChunk)
		ended := make(chan struct{})
		go func() { (&valveToxic{flow}).Pipe(toxics.NewToxicStub(in, out)); close(ended) }()
		go func() {
			for rest := bytes.Clone(sent); len(rest) > 0; {
				cut = cut*6364136223846793005 + 1442695040888963407
				n := min(1+int(cut>>33)%97, len(rest))
				in <- &stream.StreamChunk{Data: rest[:n]}
				rest = rest[n:]
			}
			close(in)
			flow.set(func() { delete(flow.holds, hold) })
		}()
		var got []byte
		for chunk := range out {
			got = append(got, chunk.Data...)
		}
		<-ended
		if !bytes.Equal(got, sent) {
			t.Fatalf("sent %q, passed on %q", sent, got)
		}
	})
}
