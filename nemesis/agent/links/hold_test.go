package links

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/internal/eventually"
	"github.com/dlmtest/dlmtest/nemesis/agent/links/wire"
)

func TestHoldRequest(t *testing.T) {
	addr := redis(t)
	l := open(t, addr, wire.Redis)
	c, direct := dial(t, l.Addr()), dial(t, addr)
	c.does("PING", "+PONG")
	f := must(t)(l.HoldRequest(When{}))
	c.say("INCR n")
	c.say("INCR n")
	c.silent()
	direct.does("EXISTS n", ":0")
	proof := f.Proof()
	heal(t, f)
	c.hears(":1") // later, once, in order
	c.hears(":2")
	direct.does("EXISTS n", ":1")
	if proof.Bytes != 16 || proof.Held < 50*time.Millisecond {
		t.Errorf("proof %s", proof)
	}
}

// Kleppmann's delayed write: only that request is late, and no client stops.
func TestHoldTheRequestThatMatches(t *testing.T) {
	addr := redis(t)
	l := open(t, addr, wire.Redis)
	c, other := dial(t, l.Addr()), dial(t, l.Addr())
	f := must(t)(l.HoldRequest(When{Name: "set", Contains: "resource"}))
	c.does("SET else 1", "+OK")
	c.say("GET else\r\nSET resource stale\r\nGET else") // one packet: the first GET still passes
	c.hears("$1")
	c.hears("1")
	c.silent()
	if hit := <-f.Hit(); hit.Message != "SET" || hit.Connection != c.LocalAddr().String() {
		t.Errorf("hit %+v", hit)
	}
	other.does("SET resource fresh", "+OK") // another connection is not held
	heal(t, f)
	c.hears("+OK")
	c.hears("$1")
	c.hears("1")
	other.does("GET resource", "$5")
	other.hears("stale")
}

func TestHoldTheAnswerOfARequest(t *testing.T) {
	addr := redis(t)
	l := open(t, addr, wire.Redis)
	c, direct := dial(t, l.Addr()), dial(t, addr)
	f := must(t)(l.HoldAnswer(When{Name: "SET", Skip: 1}))
	c.does("SET lock a", "+OK")
	c.say("SET lock b")
	c.silent()
	direct.does("GET lock", "$1") // the server did it
	direct.hears("b")
	proof := f.Proof()
	heal(t, f)
	c.hears("+OK")
	c.does("PING", "+PONG")
	if proof.Bytes != 5 || proof.Hit == nil || !proof.Seen() {
		t.Errorf("proof %s", proof)
	}
}

// A request under way arrives although its client has gone, as a packet would.
func TestHeldRequestOutlivesItsClient(t *testing.T) {
	addr := redis(t)
	l := open(t, addr, wire.Redis)
	c := dial(t, l.Addr())
	c.does("PING", "+PONG")
	f := must(t)(l.HoldRequest(When{}))
	c.say("SET k late")
	for f.Proof().Bytes == 0 {
		time.Sleep(time.Millisecond)
	}
	_ = c.Conn.(*net.TCPConn).SetLinger(0) // it dies
	_ = c.Close()
	time.Sleep(50 * time.Millisecond)
	heal(t, f)
	direct := dial(t, addr)
	for deadline := time.Now().Add(eventually.Most); ; time.Sleep(time.Millisecond) {
		direct.say("EXISTS k")
		if line, _ := direct.in.ReadString('\n'); line == ":1\r\n" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the write never came")
		}
	}
}

func TestTwoHoldsHealApart(t *testing.T) {
	l := open(t, echo(t), wire.None)
	c := dial(t, l.Addr())
	a, b := must(t)(l.HoldRequest(When{})), must(t)(l.HoldAnswer(When{}))
	c.say("x")
	c.silent()
	heal(t, a)
	c.silent()
	if p := b.Proof(); p.Bytes != 3 {
		t.Errorf("proof %s", p)
	}
	heal(t, b)
	heal(t, b) // again: no error
	c.hears("x")
}

func TestDisarmedHoldDoesNothing(t *testing.T) {
	l := open(t, redis(t), wire.Redis)
	c := dial(t, l.Addr())
	f := must(t)(l.HoldAnswer(When{Name: "SET"}))
	c.does("PING", "+PONG")
	heal(t, f)
	c.does("SET k v", "+OK")
	if p := f.Proof(); p.Seen() || p.Hit != nil {
		t.Errorf("proof of nothing: %s", p)
	}
}

// What is not understood must be said: such a fault was not observed.
func TestEncryptedStreamIsSaid(t *testing.T) {
	l := open(t, echo(t), wire.HTTP2)
	c := dial(t, l.Addr())
	f := must(t)(l.HoldAnswer(When{Name: "HEADERS"}))
	c.does("\x16\x03\x01 this could be a TLS handshake", "\x16\x03\x01 this could be a TLS handshake")
	if p := f.Proof(); p.Trouble == "" || p.Seen() {
		t.Errorf("proof %s", p)
	}
	heal(t, f)
}

// Whatever is held, delayed, slowed down and healed, and however the stream is cut
// into writes, every byte arrives once and in order.
func TestNothingIsLostOrReordered(t *testing.T) {
	l := open(t, echo(t), wire.None)
	want := numbers(100_000)
	rapid.Check(t, func(r *rapid.T) {
		c, err := net.Dial("tcp", l.Addr())
		if err != nil {
			r.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		var all sync.WaitGroup
		all.Go(func() {
			for rest := want; len(rest) > 0; {
				n := min(7919, len(rest))
				_, _ = c.Write(rest[:n])
				rest = rest[n:]
			}
		})
		var faults []*Fault
		for range rapid.IntRange(1, 8).Draw(r, "steps") {
			var f *Fault
			switch rapid.IntRange(0, 6).Draw(r, "step") {
			case 0:
				f, _ = l.Latency(time.Millisecond, time.Millisecond)
			case 1:
				f, _ = l.Bandwidth(5_000_000)
			case 2:
				f, _ = l.HoldRequest(When{})
			case 3:
				f, _ = l.HoldAnswer(When{})
			case 4:
				f, _ = l.HoldRequest(When{Bytes: 30_000})
			case 5:
				f, _ = l.HoldAnswer(When{Direction: Answer, Contains: "\x00\x00\x10\x00\x00\x00\x10\x01", After: true})
			case 6:
				if len(faults) > 0 {
					_ = faults[0].Heal()
				}
			}
			if f != nil {
				faults = append(faults, f)
			}
			time.Sleep(time.Millisecond)
		}
		for _, f := range faults {
			_ = f.Heal()
		}
		got := make([]byte, len(want))
		_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
		if n, err := io.ReadFull(c, got); err != nil || !bytes.Equal(got, want) {
			r.Fatalf("%d of %d bytes, %v, equal: %v", n, len(want), err, bytes.Equal(got, want))
		}
		all.Wait()
	})
}

func TestEventsAreRefused(t *testing.T) {
	plain, spoken := open(t, "127.0.0.1:1", wire.None), open(t, "127.0.0.1:1", wire.Redis)
	for i, c := range []struct {
		link *Link
		when When
	}{
		{plain, When{Name: "SET"}},
		{spoken, When{Direction: "sideways", Name: "SET"}},
		{spoken, When{Skip: 1}},
		{spoken, When{After: true}},
		{spoken, When{Bytes: 1, Name: "SET"}},
		{spoken, When{Bytes: -1}},
		{spoken, When{Name: "SET", Skip: -1}},
	} {
		for name, inject := range map[string]func(When) (*Fault, error){"request": c.link.HoldRequest, "answer": c.link.HoldAnswer, "cut": c.link.CutOn} {
			if _, err := inject(c.when); err == nil {
				t.Errorf("%d %s: %s was taken", i, name, fmt.Sprintf("%+v", c.when))
			}
		}
	}
	if _, err := plain.CutOn(When{}); err == nil {
		t.Error("a cut on nothing was taken")
	}
}
