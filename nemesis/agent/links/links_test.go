package links

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/internal/eventually"
	"github.com/dlmtest/dlmtest/internal/loopback"
	"github.com/dlmtest/dlmtest/nemesis/agent/links/wire"
)

// listener is a server that hands each of its connections to serve.
func listener(t testing.TB, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { defer func() { _ = c.Close() }(); serve(c) }()
		}
	}()
	return l.Addr().String()
}

func echo(t testing.TB) string {
	t.Helper()
	return listener(t, func(c net.Conn) { _, _ = io.Copy(c, c) })
}

// redis starts a redis-server of the test's own and returns its address.
func redis(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Skip("needs redis-server")
	}
	dir := t.TempDir()
	host, port := loopback.FreePort(t)
	addr := net.JoinHostPort(host, port)
	cmd := exec.Command("redis-server", "--port", port, "--bind", host, "--dir", dir, "--save", "", "--logfile", filepath.Join(dir, "log"))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if c, err := net.Dial("tcp", addr); err == nil {
			_ = c.Close()
			return addr
		}
		if time.Now().After(deadline) {
			log, _ := os.ReadFile(filepath.Join(dir, "log"))
			t.Fatalf("redis-server does not come up: %s", log)
		}
	}
}

// open makes one link, and checks at the end that nothing of it is left running.
func open(t *testing.T, upstream string, p wire.Protocol) *Link {
	t.Helper()
	if !watched[t.Name()] { // by the cleanup that runs last, behind those of all links
		watched[t.Name()] = true
		before := goroutines()
		t.Cleanup(func() { delete(watched, t.Name()); noneLeft(t, before) })
	}
	ls, err := Open(map[string]string{"s": upstream}, Options{Protocol: map[string]wire.Protocol{"s": p}, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ls.Close(); err != nil {
			t.Error(err)
		}
	})
	l, err := ls.Link("s")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// watched are the tests that check what their links leave behind.
var watched = map[string]bool{}

// noneLeft demands that no more goroutines run than before; one may still be in
// its last instruction.
func noneLeft(t *testing.T, before int) {
	t.Helper()
	after := goroutines()
	for deadline := time.Now().Add(eventually.Most); after > before; after = goroutines() {
		if time.Now().After(deadline) {
			t.Errorf("%d goroutines of links are left, before %d", after, before)
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// goroutines counts those that run in this package outside of tests.
func goroutines() (n int) {
	stacks := make([]byte, 4<<20)
	for _, s := range strings.Split(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
		if strings.Contains(s, "links.(*") && !strings.Contains(s, "_test.go") {
			n++
		}
	}
	return n
}

// client is one connection of a line protocol.
type client struct {
	t *testing.T
	net.Conn
	in *bufio.Reader
}

func dial(t *testing.T, addr string) *client {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return &client{t, c, bufio.NewReader(c)}
}

func (c *client) say(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c, line+"\r\n"); err != nil {
		c.t.Fatal(err)
	}
}

// hears demands a line of the server.
func (c *client) hears(want string) {
	c.t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(eventually.Most))
	got, err := c.in.ReadString('\n')
	if err != nil || strings.TrimSpace(got) != want {
		c.t.Fatalf("got %q, %v, want %q", got, err, want)
	}
}

func (c *client) does(line, want string) { c.t.Helper(); c.say(line); c.hears(want) }

// silent demands that nothing comes for a while.
func (c *client) silent() {
	c.t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	if b, err := c.in.Peek(1); !errors.Is(err, os.ErrDeadlineExceeded) {
		c.t.Fatalf("got %q, %v, want silence", b, err)
	}
}

// broken demands that the connection ends with an error.
func (c *client) broken() {
	c.t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(eventually.Most))
	if _, err := c.in.ReadByte(); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		c.t.Fatalf("got %v, want an end", err)
	}
}

// refused demands that a new connection ends: the reset may come before connect
// returns, or after.
func refused(t *testing.T, l *Link) {
	t.Helper()
	c, err := net.Dial("tcp", l.Addr())
	if err == nil {
		(&client{t, c, bufio.NewReader(c)}).broken()
		_ = c.Close()
	}
}

// must takes a fault that was injected.
func must(t *testing.T) func(*Fault, error) *Fault {
	t.Helper()
	return func(f *Fault, err error) *Fault {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
}

func heal(t *testing.T, f *Fault) {
	t.Helper()
	if err := f.Heal(); err != nil {
		t.Fatal(err)
	}
}

func TestPlainLink(t *testing.T) {
	addr := redis(t)
	l := open(t, addr, wire.Redis)
	c := dial(t, l.Addr())
	c.does("SET k v", "+OK")
	direct := dial(t, addr)
	for name, d := range map[string]*client{"direct": direct, "link": c} {
		const n = 2000
		start := time.Now()
		for range n {
			d.does("PING", "+PONG")
		}
		t.Logf("%s: %v a round trip", name, time.Since(start)/n)
	}
}

func TestDeadServer(t *testing.T) {
	l := open(t, "127.0.0.1:1", wire.None)
	refused(t, l)
	if s := l.Stats(); s.Refused != 1 || s.Open != 0 {
		t.Errorf("%+v", s)
	}
}

func TestManyConnections(t *testing.T) {
	l := open(t, redis(t), wire.Redis)
	f := must(t)(l.Latency(4*time.Millisecond, 4*time.Millisecond))
	var all sync.WaitGroup
	for i := range 100 {
		c := dial(t, l.Addr())
		all.Go(func() {
			for n := range 20 {
				c.does(fmt.Sprintf("SET k%d %d", i, n), "+OK")
			}
			_ = c.Close()
		})
	}
	all.Wait()
	heal(t, f)
	eventually.True(t, "no connections are left", func() bool { return l.Stats().Open == 0 })
}

// A client that only closes its sending end still gets its answer.
func TestHalfClose(t *testing.T) {
	l := open(t, listener(t, func(c net.Conn) {
		all, _ := io.ReadAll(c)
		_, _ = fmt.Fprintf(c, "%d\n", len(all))
	}), wire.None)
	c := dial(t, l.Addr())
	c.say("four")
	_ = c.Conn.(*net.TCPConn).CloseWrite()
	c.hears("6")
	c.broken()
}

func TestCloseEndsEverything(t *testing.T) {
	l := open(t, echo(t), wire.None) // its cleanup counts what is left
	f := must(t)(l.HoldRequest(When{}))
	for range 10 {
		dial(t, l.Addr()).say("held for ever")
	}
	for f.Proof().Bytes < 10*15 {
		time.Sleep(time.Millisecond)
	}
	if err := l.close(); err != nil {
		t.Error(err)
	}
	if _, err := l.Reset(); err == nil {
		t.Error("a closed link takes a fault")
	}
}

func TestOpenRefuses(t *testing.T) {
	if _, err := Open(map[string]string{"a": "x:1"}, Options{Protocol: map[string]wire.Protocol{"a": "smtp"}}); err == nil {
		t.Error("an unknown protocol was taken")
	}
	if _, err := Open(map[string]string{"a": "x:1"}, Options{Listen: map[string]string{"a": "192.0.2.1:1"}}); err == nil {
		t.Error("an address of somebody else was taken")
	}
	ls, err := Open(nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ls.Link("b"); err == nil || ls.Addr("b") != "" {
		t.Error("a link that is not there was found")
	}
}

// measured is the least of a few round trips.
func measured(t *testing.T, addr string, p wire.Protocol) time.Duration {
	t.Helper()
	best := time.Hour
	for range 5 {
		ctx, cancel := context.WithTimeout(context.Background(), eventually.Most)
		d, err := Measure(ctx, addr, p)
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		best = min(best, d)
	}
	return best
}
