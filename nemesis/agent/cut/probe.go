package cut

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"time"
)

// ProbePort is the port at which every agent answers Ping, over UDP, and Tie, over TCP. A
// cut drops both like everything else.
const ProbePort = 7464

// magic starts each ping, so that nothing else is echoed.
var magic = []byte("dlmtest?")

// Echo answers pings and counts them by sender: a ping that arrives while its
// answer does not shows a one-way cut.
type Echo struct {
	conn    *net.UDPConn
	tcp     net.Listener
	threads threads
	done    chan struct{}
	mu      sync.Mutex
	seen    map[netip.Addr]int
}

// ServeProbe answers pings at addr, host:port, until Close.
func ServeProbe(addr string) (*Echo, error) {
	at, err := net.ResolveUDPAddr("udp", addr)
	if err != nil {
		return nil, fmt.Errorf("probe: %w", err)
	}
	conn, err := net.ListenUDP("udp", at)
	if err != nil {
		return nil, fmt.Errorf("probe: %w", err)
	}
	tcp, err := net.Listen("tcp", conn.LocalAddr().String())
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("probe: %w", err)
	}
	e := &Echo{conn: conn, tcp: tcp, threads: threads{conns: map[net.Conn]bool{}}, done: make(chan struct{}), seen: map[netip.Addr]int{}}
	go e.serve()
	go e.threads.echo(tcp)
	return e, nil
}

func (e *Echo) serve() {
	defer close(e.done)
	buf := make([]byte, 64)
	for {
		n, from, err := e.conn.ReadFromUDPAddrPort(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil || !bytes.HasPrefix(buf[:n], magic) {
			continue // an ICMP error of an earlier answer is none of ours
		}
		e.mu.Lock()
		e.seen[from.Addr().Unmap()]++
		e.mu.Unlock()
		_, _ = e.conn.WriteToUDPAddrPort(buf[:n], from) // a lost answer is a ping that failed
	}
}

// Addr is where pings are answered.
func (e *Echo) Addr() string { return e.conn.LocalAddr().String() }

// Seen is how many pings have arrived from a peer.
func (e *Echo) Seen(from netip.Addr) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.seen[from.Unmap()]
}

// Close stops answering.
func (e *Echo) Close() error {
	err := errors.Join(e.conn.Close(), e.tcp.Close())
	e.threads.close()
	<-e.done
	return err
}

// pingEvery is the pause between two pings: a first one may be lost to ARP, and
// after a heal none should wait as long as a SYN does (1 s).
const pingEvery = 20 * time.Millisecond

// Ping sends pings to the agent at addr, host:port, until one comes back or ctx
// ends. It returns the round trip of the one that did.
func Ping(ctx context.Context, addr string) (time.Duration, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "udp", addr)
	if err != nil {
		return 0, fmt.Errorf("ping %s: %w", addr, err)
	}
	defer func() { _ = conn.Close() }()
	sent := map[uint64]time.Time{}
	buf := make([]byte, 64)
	for ctx.Err() == nil {
		nonce := rand.Uint64() // not a choice of the run: it only tells pings apart
		sent[nonce] = time.Now()
		_, _ = conn.Write(binary.BigEndian.AppendUint64(bytes.Clone(magic), nonce)) // refused: tried again
		until := time.Now().Add(pingEvery)
		_ = conn.SetReadDeadline(until)
		n, err := conn.Read(buf)
		if at, ok := answered(sent, buf[:n]); err == nil && ok {
			return time.Since(at), nil
		}
		select {
		case <-time.After(time.Until(until)):
		case <-ctx.Done():
		}
	}
	return 0, fmt.Errorf("ping %s: none of %d came back: %w", addr, len(sent), ctx.Err())
}

func answered(sent map[uint64]time.Time, answer []byte) (time.Time, bool) {
	if len(answer) != len(magic)+8 {
		return time.Time{}, false
	}
	at, ok := sent[binary.BigEndian.Uint64(answer[len(magic):])]
	return at, ok
}
