package links

import (
	"io"
	"net"
	"testing"
)

// BenchmarkRoundTrip compares an echo without a link, through a bare relay, and
// through a link without a fault: the cost of having one.
func BenchmarkRoundTrip(b *testing.B) {
	server := echo(b)
	relay := listener(b, func(c net.Conn) {
		s, err := net.Dial("tcp", server)
		if err != nil {
			return
		}
		go func() { _, _ = io.Copy(s, struct{ io.Reader }{c}) }()
		_, _ = io.Copy(c, struct{ io.Reader }{s})
	})
	ls, err := Open(map[string]string{"s": server}, Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = ls.Close() }()
	for _, to := range []struct{ name, addr string }{{"direct", server}, {"relay", relay}, {"link", ls.Addr("s")}} {
		b.Run(to.name, func(b *testing.B) {
			c, err := net.Dial("tcp", to.addr)
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			msg := make([]byte, 64)
			for b.Loop() {
				_, _ = c.Write(msg)
				if _, err := io.ReadFull(c, msg); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
