package libraries

import (
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/locks/libraries/redsync"
	"github.com/dlmtest/dlmtest/locks/libraries/rueidislock"
	"github.com/dlmtest/dlmtest/locks/protocol/adapter"
)

// TestSilenceIsNoRefusal has a server that stops answering in the middle of an acquire: it may
// have granted the key, and have been asked in vain to remove it. Where it has answered all, an
// acquire that ended without a grant is certainly not granted.
func TestSilenceIsNoRefusal(t *testing.T) {
	for name, a := range map[string]adapter.Adapter{"redsync": redsync.Adapter, "rueidislock": rueidislock.Adapter} {
		t.Run(name, func(t *testing.T) {
			through := &deafened{to: startRedis(t)}
			open := func() adapter.Session {
				s, err := a.Open(t.Context(), adapter.Config{Endpoints: []string{through.listen(t)}, Lease: 2 * time.Second, Client: "c"}, func(string, *adapter.Grant, string) {})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = s.Close() })
				return s
			}
			holder, waiter := open(), open()
			if _, err := holder.Acquire(t.Context(), adapter.Ask{Key: "k"}); err != nil {
				t.Fatal(err)
			}
			acquire := func(key string) error {
				ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
				defer cancel()
				_, err := waiter.Acquire(ctx, adapter.Ask{Key: key})
				return err
			}
			err := acquire("k")
			for again := 0; again < 2 && !errors.Is(err, adapter.ErrNotGranted); again++ {
				err = acquire("k") // the wait had ended in the middle of a request
			}
			if !errors.Is(err, adapter.ErrNotGranted) {
				t.Errorf("the key is another's, and all was answered: %v", err)
			}
			through.deaf.Store(true)
			if err := acquire("free"); err == nil || errors.Is(err, adapter.ErrNotGranted) {
				t.Errorf("the key is free, and nothing was answered: %v", err)
			}
		})
	}
}

// deafened passes on what clients ask of a server, and its answers until it is deaf to them.
type deafened struct {
	to   string
	deaf atomic.Bool
}

func (d *deafened) listen(t *testing.T) string {
	in, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close() })
	go func() {
		for {
			client, err := in.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", d.to)
			if err != nil {
				_ = client.Close()
				continue
			}
			go func() { _, _ = io.Copy(server, client); _ = server.Close() }()
			go func() { _, _ = io.Copy(hears{client, &d.deaf}, server); _ = client.Close() }()
		}
	}()
	return in.Addr().String()
}

type hears struct {
	net.Conn
	deaf *atomic.Bool
}

// Write implements io.Writer.
func (h hears) Write(b []byte) (int, error) {
	if h.deaf.Load() {
		return len(b), nil
	}
	return h.Conn.Write(b)
}
