// Package loopback finds addresses for servers that tests start, tell their clients of, and start again.
package loopback

import (
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"testing"
)

var calls atomic.Uint32

// Free is an address, host:port, on which a server may listen later, or nobody at all. A free port of 127.0.0.1 is no such
// address: until the server listens, the kernel may give the port to any connection on the machine, as the near end. The near end of
// connections to loopback is 127.0.0.1, so an address of the test's own is left alone.
func Free(t testing.TB) string {
	t.Helper()
	pid := os.Getpid()
	l, err := net.Listen("tcp", fmt.Sprintf("127.%d.%d.%d:0", 64+pid>>8&127, pid&255, 1+calls.Add(1)%254))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// FreePort is Free, its host and its port.
func FreePort(t testing.TB) (host, port string) {
	t.Helper()
	host, port, _ = net.SplitHostPort(Free(t)) // the kernel wrote it
	return host, port
}
