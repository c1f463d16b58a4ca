package cut

import (
	"context"
	"fmt"
	"net/netip"
	"testing"
	"time"
)

// serveProbe starts the agent's listener in a node.
func serveProbe(t *testing.T, n *node) *Echo {
	t.Helper()
	var e *Echo
	n.do(t, func() (err error) { e, err = ServeProbe(fmt.Sprintf(":%d", ProbePort)); return err })
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// ping is one attempt from a to b's agent.
func ping(a, b *node, d time.Duration) (rtt time.Duration, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	a.in(func() { rtt, err = Ping(ctx, netip.AddrPortFrom(b.addr, ProbePort).String()) })
	return rtt, err
}

func TestPingAcrossACut(t *testing.T) {
	n := cluster(t, 3)
	echo := serveProbe(t, n[1])
	rtt, err := ping(n[0], n[1], time.Second)
	if err != nil {
		t.Fatal(err)
	}
	heal := cutFrom(t, "p", n[1], nil, n[0])
	seen := echo.Seen(n[0].addr)
	if _, err := ping(n[0], n[1], 200*time.Millisecond); err == nil {
		t.Error("a ping passed the cut")
	}
	if got := echo.Seen(n[0].addr); got != seen {
		t.Errorf("%d pings arrived through the cut", got-seen)
	}
	if _, err := ping(n[2], n[1], time.Second); err != nil {
		t.Errorf("a node that was not cut: %v", err)
	}
	heal()
	start := time.Now()
	if _, err := ping(n[0], n[1], time.Second); err != nil {
		t.Error(err)
	}
	t.Logf("round trip %v; answered %v after the heal", rtt, time.Since(start))
}

// A one-way cut shows in what the other end has seen.
func TestPingShowsTheDirection(t *testing.T) {
	n := cluster(t, 2)
	echo := serveProbe(t, n[1])
	defer cutFrom(t, "deaf", n[0], nil, n[1])()
	if _, err := ping(n[0], n[1], 200*time.Millisecond); err == nil {
		t.Error("an answer passed the cut")
	}
	if echo.Seen(n[0].addr) == 0 {
		t.Error("the way there was cut too")
	}
}
