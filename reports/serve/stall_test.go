package serve

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// A reader that takes nothing is given up; one that reads slowly, and for longer than the
// limit, gets all.
func TestReadersThatStall(t *testing.T) {
	const size = 64 << 20 // more than the buffers of a connection hold
	body, ended := bytes.Repeat([]byte("x"), size), make(chan error, 2)
	s := httptest.NewServer(Unstalled(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(w, bytes.NewReader(body))
		ended <- err
	}), 300*time.Millisecond))
	defer s.Close()
	for _, slow := range []bool{false, true} {
		c, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := io.WriteString(c, "GET / HTTP/1.0\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if slow {
			go func() {
				piece := make([]byte, 4<<20)
				for {
					time.Sleep(50 * time.Millisecond)
					if _, err := io.ReadFull(c, piece); err != nil {
						return
					}
				}
			}()
		}
		select {
		case err := <-ended:
			if slow != (err == nil) {
				t.Errorf("slow %v: %v", slow, err)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("slow %v: it is still served", slow)
		}
	}
}
