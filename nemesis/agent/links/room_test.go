package links

import (
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/internal/eventually"
	"github.com/dlmtest/dlmtest/nemesis/agent/links/wire"
)

// A client that pours into held links fills no more than the room there is; others pass,
// and the heal delivers every byte.
func TestRoom(t *testing.T) {
	const poured, room = 4 << 20, 1 << 20
	var arrived sync.WaitGroup
	upstream := listener(t, func(c net.Conn) {
		defer arrived.Done()
		buf, left := make([]byte, 1<<16), poured
		for left > 0 {
			n, err := c.Read(buf)
			if left -= n; err != nil {
				t.Error(err)
				return
			}
		}
	})
	ls, err := Open(map[string]string{"s": upstream, "other": echo(t)}, Options{Room: room})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ls.Close() })
	held, _ := ls.Link("s")
	f := must(t)(held.HoldRequest(When{}))
	for range 4 {
		arrived.Add(1)
		c, err := net.Dial("tcp", held.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		go func() { _, _ = c.Write(make([]byte, poured)) }()
	}
	most := int64(0)
	for range 50 {
		most = max(most, held.room.held.Load())
		time.Sleep(10 * time.Millisecond)
	}
	// Each connection reads one piece of at most 32 kB past the bound.
	if most < room || most > room+4*(32<<10) {
		t.Errorf("%d bytes under way, %d allowed", most, room)
	}
	c := dial(t, ls.Addr("other"))
	c.does("PING", "PING")
	if err := f.Heal(); err != nil {
		t.Fatal(err)
	}
	arrived.Wait()
	eventually.True(t, "no bytes are counted any more", func() bool { return held.room.held.Load() == 0 })
}

// Bytes that a fault swallows or cuts off take no room for ever.
func TestRoomIsGivenBack(t *testing.T) {
	ls, err := Open(map[string]string{"s": echo(t)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ls.Close() })
	l, _ := ls.Link("s")
	for _, inject := range []func() (*Fault, error){l.Blackhole, func() (*Fault, error) { return l.HoldRequest(When{}) }} {
		c := dial(t, l.Addr())
		c.does("PING", "PING")
		f := must(t)(inject())
		c.say("PING")
		c.silent()
		_ = c.Close()
		if err := f.Heal(); err != nil {
			t.Fatal(err)
		}
	}
	if err := ls.Close(); err != nil {
		t.Fatal(err)
	}
	if left := l.room.held.Load(); left != 0 {
		t.Errorf("%d bytes are still counted", left)
	}
}

// More connections than a lock can need are reset, and the link goes on.
func TestTooManyConnections(t *testing.T) {
	ls, err := Open(map[string]string{"s": echo(t), "other": echo(t)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ls.Close() })
	l, _ := ls.Link("s")
	l.room.conns.Store(1)
	first := dial(t, l.Addr())
	first.does("PING", "PING")
	for _, name := range []string{"s", "other"} {
		if c, err := net.Dial("tcp", ls.Addr(name)); err == nil { // the reset may come before the dial is over
			defer c.Close()
			if _, err := c.Read(make([]byte, 1)); err == nil {
				t.Error("a connection too many was let in")
			}
		}
		link, _ := ls.Link(name)
		if n := link.Stats().Refused; n != 1 {
			t.Errorf("%s refused %d", name, n)
		}
	}
	first.does("PING", "PING")
	_ = first.Close()
	eventually.True(t, "a place is free again", func() bool { return l.room.taken.Load() == 0 })
	dial(t, ls.Addr("other")).does("PING", "PING")
}

// What parsers keep of messages that do not end has one bound for all links; beyond it bytes pass unparsed, and it is told.
func TestParsersShareTheirRoom(t *testing.T) {
	told := make(chan Unparsed, 9)
	ls, err := Open(map[string]string{"a": echo(t), "b": echo(t)}, Options{Protocol: map[string]wire.Protocol{"a": wire.HTTP1, "b": wire.HTTP1},
		Unparsed: func(u Unparsed) { told <- u }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ls.Close() })
	a, _ := ls.Link("a")
	a.room.kept.Store(400 << 10)
	long := "GET /" + strings.Repeat("x", 40<<10)
	first := dial(t, ls.Addr("a"))
	first.does(long, long)
	if known := a.room.known.Load(); known < 40<<10 || known > 400<<10 {
		t.Errorf("%d bytes are counted", known)
	}
	second := dial(t, ls.Addr("b"))
	for range 6 {
		second.does(long, long)
	}
	select {
	case u := <-told:
		if u.Link != "b" || !strings.Contains(u.String(), "on all links together") {
			t.Errorf("%s", u)
		}
	case <-time.After(eventually.Most):
		t.Fatal("nobody was told")
	}
	if known := a.room.known.Load(); known > 400<<10 {
		t.Errorf("%d bytes are kept", known)
	}
	_, _ = first.Close(), second.Close()
	eventually.True(t, "nothing is kept any more", func() bool { return a.room.known.Load() == 0 })
}

// Small pieces that are held take no hundred times their size.
func TestSmallPiecesAreHeldTogether(t *testing.T) {
	l := &Link{told: map[Direction]bool{}, passed: map[Passed]int{}, room: newRoom(roomMax)}
	v := valveToxic{newConn(l, 1, nil, nil).request}
	v.hold(newFault(l, "hold-request", When{}), 0)
	const sent = 100_000
	for range sent {
		v.take([]byte("x"))
	}
	if n := len(v.queue); v.queued != sent || n > sent/pieceSize+1 {
		t.Errorf("%d bytes in %d pieces", v.queued, n)
	}
}

// A client that invents names of messages fills no memory with them.
func TestInventedNames(t *testing.T) {
	l := &Link{passed: map[Passed]int{}}
	for i := range 10 * mostNames {
		l.came(Request, []wire.Message{{Name: fmt.Sprint("N", i)}, {Name: "N0"}, {Name: strings.Repeat("N", longName+1)}})
	}
	if all := l.Passed(); len(all) != mostNames || all[Passed{Direction: Request, Name: "N0"}] != 10*mostNames+1 {
		t.Errorf("%d names, N0 %d times", len(all), all[Passed{Direction: Request, Name: "N0"}])
	}
}
