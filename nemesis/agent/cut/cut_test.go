package cut

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/internal/eventually"
)

// conn is an established TCP connection to an echo server.
type conn struct {
	t *testing.T
	net.Conn
	lines *bufio.Reader
}

// connect opens a connection from a to an echo server that it starts at b.
func connect(t *testing.T, a, b *node, port uint16) *conn {
	t.Helper()
	at := netip.AddrPortFrom(b.addr, port).String()
	b.do(t, func() error {
		l, err := net.Listen("tcp", at)
		if err == nil {
			t.Cleanup(func() { _ = l.Close() })
			go echo(l)
		}
		return err
	})
	c := &conn{t: t}
	a.do(t, func() (err error) { c.Conn, err = net.Dial("tcp", at); return err })
	t.Cleanup(func() { _ = c.Close() })
	c.lines = bufio.NewReader(c)
	c.flows("hello")
	return c
}

func echo(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() { defer func() { _ = c.Close() }(); _, _ = io.Copy(c, c) }()
	}
}

// flows demands that a line comes back.
func (c *conn) flows(line string) {
	c.t.Helper()
	_, _ = fmt.Fprintln(c, line)
	c.comes(line)
}

func (c *conn) comes(line string) {
	c.t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(eventually.Most))
	if got, err := c.lines.ReadString('\n'); err != nil || got != line+"\n" {
		c.t.Fatalf("got %q, %v, want %q", got, err, line)
	}
}

// stalls demands that a line is accepted by the kernel and does not come back.
func (c *conn) stalls(line string, d time.Duration) {
	c.t.Helper()
	if _, err := fmt.Fprintln(c, line); err != nil {
		c.t.Fatalf("a cut connection refuses a write: %v", err) // EPERM would show here
	}
	_ = c.SetReadDeadline(time.Now().Add(d))
	if _, err := c.lines.Peek(1); !errors.Is(err, os.ErrDeadlineExceeded) {
		c.t.Fatalf("a cut connection says %v", err)
	}
}

// cutFrom drops at n what comes from peers.
func cutFrom(t *testing.T, id string, n *node, ports []uint16, peers ...*node) (heal func()) {
	t.Helper()
	var addrs []netip.Addr
	for _, p := range peers {
		addrs = append(addrs, p.addr)
	}
	var end func() error
	n.do(t, func() (err error) { end, err = Apply(addrs, Options{ID: id, Ports: ports}); return err })
	return func() { t.Helper(); n.do(t, end) }
}

// dropped is how many packets a cut at n has dropped.
func dropped(t *testing.T, n *node, id string) (packets uint64) {
	t.Helper()
	n.do(t, func() error {
		counts, err := Counts()
		for _, c := range counts {
			if c.ID == id {
				packets += c.Packets
			}
		}
		return err
	})
	return packets
}

func TestConnectionStallsAndResumes(t *testing.T) {
	n := cluster(t, 2)
	c := connect(t, n[0], n[1], 4000)
	healA, healB := cutFrom(t, "p", n[0], nil, n[1]), cutFrom(t, "p", n[1], nil, n[0])
	c.stalls("held", 700*time.Millisecond)
	if got := dropped(t, n[1], "p"); got < 2 {
		t.Errorf("%d packets dropped, want the line and its retransmissions", got)
	}
	if got := dropped(t, n[0], "p"); got != 0 {
		t.Errorf("%d packets dropped where none can have arrived", got)
	}
	healA()
	healB()
	c.comes("held") // not reset, not lost, not twice
	c.flows("after")
	healB() // again: no error
}

func TestOneWay(t *testing.T) {
	n := cluster(t, 2)
	a, b := connect(t, n[0], n[1], 4000), connect(t, n[1], n[0], 4000)
	heal := cutFrom(t, "deaf", n[0], nil, n[1]) // node-1 speaks and does not hear
	a.stalls("x", 300*time.Millisecond)
	b.stalls("y", 300*time.Millisecond)
	if dropped(t, n[0], "deaf") == 0 {
		t.Error("the echoes of node-2 were not counted")
	}
	heal()
	a.comes("x")
	b.comes("y")
}

func TestCutsComposeAndHealApart(t *testing.T) {
	n := cluster(t, 3)
	b, c := connect(t, n[0], n[1], 4000), connect(t, n[0], n[2], 4000)
	healFirst := cutFrom(t, "first", n[0], nil, n[1])
	healSecond := cutFrom(t, "second", n[0], nil, n[1], n[2])
	b.stalls("b", 300*time.Millisecond)
	c.stalls("c", 300*time.Millisecond)
	if one, two := dropped(t, n[0], "first"), dropped(t, n[0], "second"); one == 0 || two <= one {
		t.Errorf("counted %d and %d: an overlapping cut must count too", one, two)
	}
	healSecond()
	c.comes("c")
	b.stalls("b2", 300*time.Millisecond)
	healFirst()
	b.comes("b")
	b.comes("b2")
}

func TestPortCut(t *testing.T) {
	n := cluster(t, 2)
	lock, data := connect(t, n[0], n[1], 4000), connect(t, n[0], n[1], 5000)
	heal := cutFrom(t, "lock-only", n[0], []uint16{4000}, n[1])
	lock.stalls("x", 300*time.Millisecond)
	data.flows("still")
	heal()
	lock.comes("x")
}

func TestIPv6(t *testing.T) {
	n := cluster(t, 2)
	n[0].addr, n[1].addr = six(n[0].addr), six(n[1].addr)
	c := connect(t, n[0], n[1], 4000)
	heal := cutFrom(t, "six", n[1], nil, n[0])
	c.stalls("x", 300*time.Millisecond)
	heal()
	c.comes("x")
}

func TestRefusals(t *testing.T) {
	n := cluster(t, 2)
	peers := []netip.Addr{n[1].addr}
	tests := []struct {
		name  string
		peers []netip.Addr
		id    string
		want  string
	}{
		{"no name", peers, "", "not a name"},
		{"a name with a space", peers, "a b", "not a name"},
		{"nobody", nil, "x", "no peers"},
		{"loopback", []netip.Addr{netip.MustParseAddr("127.0.0.1")}, "x", "not the address of a peer"},
		{"no address", []netip.Addr{{}}, "x", "not the address of a peer"},
		{"taken", peers, "taken", "in force"},
	}
	cutFrom(t, "taken", n[0], nil, n[1])
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			n[0].in(func() {
				if _, err := Apply(test.peers, Options{ID: test.id}); err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

func TestTheHostIsRefused(t *testing.T) {
	if _, err := os.Stat("/proc/sys/net/core/netdev_budget"); err != nil {
		t.Skip("this test runs in a network namespace already")
	}
	hostIsUntouched(t)
	if _, err := Apply([]netip.Addr{netip.MustParseAddr("192.0.2.1")}, Options{ID: "never"}); !errors.Is(err, ErrHost) {
		t.Errorf("got %v", err)
	}
}
