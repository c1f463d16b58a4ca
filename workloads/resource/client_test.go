package resource_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/workloads/resource"
)

var write = resource.WriteRequest{Key: "k", Owner: "a", Value: "v1"}

func dial(t testing.TB, addr string) *resource.Client {
	client, err := resource.Dial(addr)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestNoAddress(t *testing.T) {
	if _, err := resource.Dial("nowhere"); err == nil {
		t.Error("an address without a port was taken")
	}
}

func TestNobodyListens(t *testing.T) {
	client := dial(t, "127.0.0.1:1")
	if _, err := client.Write(t.Context(), write); !errors.Is(err, resource.ErrNoEffect) {
		t.Errorf("%v, want ErrNoEffect", err)
	}
}

func TestClosedClient(t *testing.T) {
	client := dial(t, "127.0.0.1:1")
	client.Close()
	if _, err := client.Write(t.Context(), write); !errors.Is(err, resource.ErrNoEffect) || !errors.Is(err, net.ErrClosed) {
		t.Errorf("%v, want ErrNoEffect and ErrClosed", err)
	}
}

// The server is stopped while it decides a write: the client must not be told
// that nothing happened, for the log says that it did.
func TestServerStoppedInACall(t *testing.T) {
	var r recorder
	deciding, goOn := make(chan bool), make(chan bool)
	s := serve(t, "127.0.0.1:0", resource.Rules{}, func(op history.Op) {
		r.emit(op)
		deciding <- true
		<-goOn
	})
	client := dial(t, s.addr)
	defer client.Close()
	outcome := make(chan error)
	go func() {
		_, err := client.Write(t.Context(), write)
		outcome <- err
	}()
	<-deciding
	stopped := make(chan bool)
	go func() { s.stop(); close(stopped) }()
	if err := <-outcome; err == nil || errors.Is(err, resource.ErrNoEffect) {
		t.Errorf("%v, want an open outcome", err)
	}
	close(goOn)
	<-stopped
	if n := len(r.log()); n != 1 {
		t.Errorf("%d log lines, want 1", n)
	}
}

func TestReconnects(t *testing.T) {
	var r recorder
	s := serve(t, "127.0.0.1:0", resource.Rules{}, r.emit)
	client := dial(t, s.addr)
	defer client.Close()
	if _, err := client.Read(t.Context(), resource.ReadRequest{Key: "k"}); err != nil {
		t.Fatal(err)
	}
	s.stop()
	s = serve(t, s.addr, resource.Rules{}, r.emit)
	defer s.stop()
	// At most the first call may meet the broken connection.
	_, _ = client.Read(t.Context(), resource.ReadRequest{Key: "k"})
	if _, err := client.Write(t.Context(), write); err != nil {
		t.Errorf("after a restart: %v", err)
	}
}

// A deadline ends a call to a server that accepts and never answers; the next
// call uses a new connection.
func TestDeadline(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	client := dial(t, listener.Addr().String())
	defer client.Close()
	for range 2 {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := client.Write(ctx, write)
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, resource.ErrNoEffect) {
			t.Errorf("%v, want an open outcome by deadline", err)
		}
		conn, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
}

// Who does not know the key neither reads nor writes; who does is served as ever.
func TestKey(t *testing.T) {
	var r recorder
	s := serve(t, "127.0.0.1:0", resource.Rules{Key: "the key"}, r.emit)
	defer s.stop()
	for _, key := range []string{"", "another", "the ke"} {
		client := dial(t, s.addr)
		client.Key = key
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		if _, err := client.Write(ctx, write); err == nil {
			t.Errorf("the key %q was taken", key)
		}
		cancel()
		client.Close()
	}
	if n := len(r.log()); n != 0 {
		t.Errorf("%d log lines of strangers", n)
	}
	client := dial(t, s.addr)
	client.Key = "the key"
	defer client.Close()
	if _, err := client.Write(t.Context(), write); err != nil || len(r.log()) != 1 {
		t.Errorf("with the key: %v, %d log lines", err, len(r.log()))
	}
}
