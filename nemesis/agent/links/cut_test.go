package links

import (
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/nemesis/agent/links/wire"
)

func TestCutOnARequest(t *testing.T) {
	for _, after := range []bool{false, true} {
		t.Run(map[bool]string{false: "before", true: "after"}[after], func(t *testing.T) {
			addr := redis(t)
			l := open(t, addr, wire.Redis)
			c, direct := dial(t, l.Addr()), dial(t, addr)
			f := must(t)(l.CutOn(When{Name: "SET", Skip: 1, After: after}))
			c.does("SET a 1", "+OK")
			c.say("SET b 1\r\nSET c 1")
			c.broken()
			<-f.Hit()
			direct.does("EXISTS a", ":1")
			direct.does("EXISTS b", map[bool]string{false: ":0", true: ":1"}[after])
			direct.does("EXISTS c", ":0")
			dial(t, l.Addr()).does("SET d 1", "+OK") // once: a new connection works
			heal(t, f)
			if p := f.Proof(); p.Connections != 1 {
				t.Errorf("proof %s", p)
			}
		})
	}
}

// Of faults on several links that share their turn only one is struck, after what
// all of them have let pass.
func TestOneTurnOfSeveralLinks(t *testing.T) {
	addr := redis(t)
	turn := NewTurn(2)
	var ls []*Link
	var faults []*Fault
	var clients []*client
	for range 2 {
		l := open(t, addr, wire.Redis)
		ls = append(ls, l)
		faults = append(faults, must(t)(l.CutOn(When{Name: "SET", Turn: turn})))
		clients = append(clients, dial(t, l.Addr()))
	}
	clients[0].does("SET a 1", "+OK")
	clients[1].does("SET b 1", "+OK")
	clients[1].say("SET c 1")
	clients[1].broken()
	<-faults[1].Hit()
	clients[0].does("SET d 1", "+OK")
	dial(t, ls[1].Addr()).does("SET e 1", "+OK")
	if faults[0].Proof().Seen() || !faults[1].Proof().Seen() {
		t.Errorf("%s; %s", faults[0].Proof(), faults[1].Proof())
	}
}

func TestCutOnAnAnswer(t *testing.T) {
	addr := redis(t)
	l := open(t, addr, wire.Redis)
	c, direct := dial(t, l.Addr()), dial(t, addr)
	must(t)(l.CutOn(When{Direction: Answer, Contains: "+OK"}))
	c.does("PING", "+PONG")
	c.say("SET a 1")
	c.broken()
	direct.does("EXISTS a", ":1")
}

// go-zookeeper #229: the link breaks after the create, when the client asks for
// the children, so the create went out and its fate is known to the client alone.
func TestCutOnGetChildren(t *testing.T) {
	var mu sync.Mutex
	var seen []int32
	addr := listener(t, func(c net.Conn) {
		head := make([]byte, 4)
		for {
			if _, err := io.ReadFull(c, head); err != nil {
				return
			}
			body := make([]byte, binary.BigEndian.Uint32(head))
			if _, err := io.ReadFull(c, body); err != nil {
				return
			}
			mu.Lock()
			seen = append(seen, int32(binary.BigEndian.Uint32(body[4:])))
			mu.Unlock()
			_, _ = c.Write(append(head, body...))
		}
	})
	l := open(t, addr, wire.ZooKeeper)
	c := dial(t, l.Addr())
	must(t)(l.CutOn(When{Name: "getChildren2"}))
	for _, op := range []uint32{0, 1, 12, 2} {
		msg := binary.BigEndian.AppendUint32([]byte{0, 0, 0, 8, 0, 0, 0, 1}, op)
		if _, err := c.Write(msg); err != nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	_, _ = io.ReadFull(c, make([]byte, 24))
	c.broken()
	mu.Lock()
	defer mu.Unlock()
	if len(seen) != 2 || seen[1] != 1 {
		t.Errorf("the server has seen %v, want connect and create", seen)
	}
}

func TestCutAfterBytes(t *testing.T) {
	got := make(chan int, 1)
	l := open(t, listener(t, func(c net.Conn) {
		all, _ := io.ReadAll(c)
		got <- len(all)
	}), wire.None)
	c := dial(t, l.Addr())
	must(t)(l.CutOn(When{Bytes: 5}))
	c.say("abc")
	_, _ = c.Write([]byte("defghi"))
	c.broken()
	if n := <-got; n != 5 {
		t.Errorf("%d bytes arrived", n)
	}
}

func TestReset(t *testing.T) {
	l := open(t, echo(t), wire.None)
	c := dial(t, l.Addr())
	c.does("x", "x")
	f := must(t)(l.Reset())
	c.broken()
	refused(t, l)
	heal(t, f)
	dial(t, l.Addr()).does("y", "y")
	if p := f.Proof(); p.Connections != 2 {
		t.Errorf("proof %s", p)
	}
}

func TestBlackhole(t *testing.T) {
	l := open(t, echo(t), wire.None)
	old, idle := dial(t, l.Addr()), dial(t, l.Addr())
	old.does("x", "x")
	idle.does("x", "x")
	f := must(t)(l.Blackhole())
	fresh := dial(t, l.Addr())
	for _, c := range []*client{old, fresh} {
		c.say("lost")
		c.silent()
	}
	heal(t, f)
	old.broken()
	fresh.broken()
	idle.does("y", "y") // it lost nothing
	dial(t, l.Addr()).does("z", "z")
	if p := f.Proof(); p.Connections != 3 || p.Bytes != 6 {
		t.Errorf("proof %s", p)
	}
}
