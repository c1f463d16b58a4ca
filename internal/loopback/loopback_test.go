package loopback

import (
	"net"
	"testing"
)

// A server gets the address that it was promised, and no connection has a near end there.
func TestFree(t *testing.T) {
	seen := map[string]bool{}
	for range 20 {
		addr := Free(t)
		host, _, err := net.SplitHostPort(addr)
		if err != nil || seen[host] {
			t.Errorf("%s: %v, twice: %v", addr, err, seen[host])
		}
		seen[host] = true
		l, err := net.Listen("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		if near := c.LocalAddr().(*net.TCPAddr).IP.String(); near == host {
			t.Errorf("a connection to %s has its near end at %s", addr, near)
		}
		_, _ = c.Close(), l.Close()
	}
}
