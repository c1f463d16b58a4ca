package cut

import (
	"net/netip"
	"testing"
	"time"
)

// TestThreadFlowsLaterThanAPing: TCP backs off, so a connection that was cut makes progress
// later than the heal, and at most as long again as the cut lasted and half a second.
func TestThreadFlowsLaterThanAPing(t *testing.T) {
	n := cluster(t, 2)
	serveProbe(t, n[1])
	var thread *Thread
	n[0].do(t, func() (err error) {
		thread, err = Tie(netip.AddrPortFrom(n[1].addr, ProbePort).String())
		return err
	})
	defer thread.Close()
	heal := cutFrom(t, "p", n[1], nil, n[0])
	if err := thread.Pull(); err != nil {
		t.Fatal(err)
	}
	const length = time.Second
	begun := time.Now()
	if thread.Await(begun.Add(length)) == nil {
		t.Error("the thread passed the cut")
	}
	heal()
	healed := time.Now()
	if _, err := ping(n[0], n[1], time.Second); err != nil {
		t.Error(err)
	}
	pinged := time.Since(healed)
	if err := thread.Await(healed.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	flows := time.Since(healed)
	t.Logf("a cut of %v: a ping passes after %v, a connection flows after %v", healed.Sub(begun), pinged, flows)
	if flows > healed.Sub(begun)+2*time.Second {
		t.Errorf("a connection flows %v after the heal", flows)
	}
}
