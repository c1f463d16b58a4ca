package outside

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dlmtest/dlmtest/locks/protocol/adapter"
)

// client is a lock client for the protocol of docs/protocol.md, which measures its links by the way.
func client(mark string) error {
	end, err := family(mark, false, "")
	if err != nil {
		return err
	}
	adapter.Main(adapter.Adapter{Name: "outside", Library: "1", Offers: []string{"lease", "wait"},
		Open: func(_ context.Context, c adapter.Config, _ adapter.Tell) (adapter.Session, error) {
			if c.Client != "final" && len(c.Endpoints) > 0 {
				last := c.Endpoints[len(c.Endpoints)-1]
				go trips(last)
				go bulks(last)
			}
			return session{c, end}, nil
		}})
	return nil
}

// session locks at the first server alone: what is measured is not the lock.
type session struct {
	adapter.Config
	end func()
}

// conn is a connection that asks one thing at a time.
type conn struct {
	net.Conn
	in *bufio.Reader
}

const askLimit = time.Second

func dial(addr string) (*conn, error) {
	c, err := net.DialTimeout("tcp4", addr, askLimit)
	if err != nil {
		return nil, err
	}
	return &conn{c, bufio.NewReader(c)}, nil
}

func (c *conn) say(words ...string) error {
	text := fmt.Sprintf("*%d\r\n", len(words))
	for _, w := range words {
		text += bulk(w)
	}
	_, err := io.WriteString(c, text)
	return err
}

// hear reads one answer; none is "".
func (c *conn) hear() (string, error) {
	line, err := c.in.ReadString('\n')
	if err != nil {
		return "", err
	}
	line = strings.TrimRight(line, "\r\n")
	var size int
	switch _, scan := fmt.Sscanf(line, "$%d", &size); {
	case line == "$-1":
		return "", nil
	case scan != nil:
		return line, nil
	}
	b := make([]byte, size+2)
	_, err = io.ReadFull(c.in, b)
	return string(b[:size]), err
}

func (c *conn) ask(words ...string) (string, error) {
	if err := c.SetDeadline(time.Now().Add(askLimit)); err != nil {
		return "", err
	}
	if err := c.say(words...); err != nil {
		return "", err
	}
	return c.hear()
}

func (s session) ask(words ...string) (string, error) {
	Record{Who: "worker", What: Call, Text: words[0]}.print()
	c, err := dial(s.Endpoints[0])
	if err != nil {
		return "", err
	}
	defer c.Close()
	return c.ask(words...)
}

// Acquire implements adapter.Session.
func (s session) Acquire(ctx context.Context, a adapter.Ask) (*adapter.Grant, error) {
	for {
		token, err := s.ask("LOCK", a.Key, fmt.Sprint(s.Lease.Milliseconds()))
		switch {
		case err != nil:
			return nil, err
		case token != "":
			return &adapter.Grant{State: [2]string{a.Key, token}}, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: held by another", adapter.ErrNotGranted)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Release implements adapter.Session.
func (s session) Release(_ context.Context, g *adapter.Grant) error {
	held := g.State.([2]string)
	was, err := s.ask("FREE", held[0], held[1])
	if err == nil && was != ":1" {
		err = adapter.ErrNotHeld
	}
	return err
}

// Close implements adapter.Session.
func (s session) Close() error { s.end(); return nil }

// trips sends a message every 10 ms on a connection, whether the last is answered or not, and another
// connection when that one breaks.
func trips(addr string) {
	for n := int64(0); ; {
		c, err := dial(addr)
		if err != nil {
			Record{Who: "link", What: Broken, Text: err.Error()}.print()
			time.Sleep(packetEvery)
			continue
		}
		Record{Who: "link", What: Dialled}.print()
		broken := make(chan error, 1)
		go func() { broken <- answers(c) }()
		for err == nil {
			n++
			sent := raw(unix.CLOCK_MONOTONIC)
			_ = c.SetWriteDeadline(time.Now().Add(askLimit))
			if err = c.say("PING", fmt.Sprintf("%d/%d", n, sent)); err == nil {
				Record{Who: "link", What: Sent, N: n, At: sent}.print()
			}
			select {
			case err = <-broken:
			case <-time.After(packetEvery):
			}
		}
		Record{Who: "link", What: Broken, Text: err.Error()}.print()
		_ = c.Close()
	}
}

// answers reads them until the connection breaks.
func answers(c *conn) error {
	for {
		text, err := c.hear()
		if err != nil {
			return err
		}
		r := Record{Who: "link", What: Trip}
		if _, err := fmt.Sscanf(text, "%d/%d %d", &r.N, &r.From, &r.M); err != nil {
			return fmt.Errorf("answer %q: %w", text, err)
		}
		r.print()
	}
}

// bulkSize is what a narrow link takes a while for, in one message.
const bulkSize = 16 << 10

// bulks sends a large message at a time on a connection of its own.
func bulks(addr string) {
	payload := strings.Repeat("x", bulkSize)
	for {
		c, err := dial(addr)
		for err == nil {
			from := raw(unix.CLOCK_MONOTONIC)
			if _, err = c.ask("PING", "0", payload); err == nil {
				Record{Who: "link", What: Bulk, From: from, N: bulkSize}.print()
			}
			time.Sleep(2 * packetEvery)
		}
		Record{Who: "bulk", What: Broken, Text: err.Error()}.print()
		if c != nil {
			_ = c.Close()
		}
		time.Sleep(2 * packetEvery)
	}
}
