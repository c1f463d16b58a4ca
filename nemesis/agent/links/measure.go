package links

import (
	"context"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/dlmtest/dlmtest/nemesis/agent/links/wire"
)

// pings are first words that make a server of the protocol answer at once, with
// no credentials and no trace.
var pings = map[wire.Protocol]string{
	wire.Redis:     "PING\r\n",                         // without AUTH too: -NOAUTH is an answer
	wire.ZooKeeper: "srvr",                             // the one four-letter word that is allowed by default
	wire.Postgres:  "\x00\x00\x00\x08\x04\xd2\x16\x2f", // may I use SSL?
	wire.HTTP1:     "OPTIONS * HTTP/1.1\r\nHost: dlmtest\r\n\r\n",
	wire.HTTP2: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" +
		"\x00\x00\x00\x04\x00\x00\x00\x00\x00" + // SETTINGS, none
		"\x00\x00\x08\x06\x00\x00\x00\x00\x00dlmtest?", // PING
}

// Measure returns how long a server at addr, or a link to it, takes from the first
// byte of a request to the first byte of its answer, on a new connection that is
// set up already. Compare a link with the server itself to see what a fault adds.
func Measure(ctx context.Context, addr string, p wire.Protocol) (time.Duration, error) {
	ping, ok := pings[p]
	if !ok {
		return 0, fmt.Errorf("measure %s: no ping is known for protocol %q", addr, p)
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return 0, fmt.Errorf("measure: %w", err)
	}
	defer func() { _ = conn.Close() }()
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	start := time.Now()
	if _, err := io.WriteString(conn, ping); err != nil {
		return 0, fmt.Errorf("measure %s: %w", addr, err)
	}
	if err := pong(conn, p); err != nil {
		return 0, fmt.Errorf("measure %s: %w", addr, err)
	}
	return time.Since(start), nil
}

// pong reads until the answer to a ping begins. An HTTP/2 server sends its settings
// unasked, so there the PING frame's own answer is awaited.
func pong(conn net.Conn, p wire.Protocol) error {
	if p != wire.HTTP2 {
		_, err := io.ReadFull(conn, make([]byte, 1))
		return err
	}
	head := make([]byte, 9)
	for {
		if _, err := io.ReadFull(conn, head); err != nil {
			return err
		}
		if head[3] == 6 && head[4]&1 != 0 { // PING, ACK
			return nil
		}
		size := int64(head[0])<<16 | int64(head[1])<<8 | int64(head[2])
		if _, err := io.CopyN(io.Discard, conn, size); err != nil {
			return err
		}
	}
}
