package resource_test

import (
	"context"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/workloads/resource"
	"github.com/dlmtest/dlmtest/workloads/resource/resourcetest"
)

// recorder keeps a log. Its own mutex stands in for a real recorder's.
type recorder struct {
	mu  sync.Mutex
	ops []history.Op
}

func (r *recorder) emit(op history.Op) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ops = append(r.ops, op)
}

func (r *recorder) log() []history.Op {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.ops)
}

func TestStore(t *testing.T) {
	resourcetest.Run(t, func(t testing.TB, rules resource.Rules) resourcetest.Fixture {
		var r recorder
		store, err := resource.NewStore(rules, r.emit)
		if err != nil {
			t.Fatal(err)
		}
		return resourcetest.Fixture{Resource: store, Log: r.log}
	})
}

func TestServed(t *testing.T) {
	resourcetest.Run(t, func(t testing.TB, rules resource.Rules) resourcetest.Fixture {
		var r recorder
		s := serve(t, "127.0.0.1:0", rules, r.emit)
		client := dial(t, s.addr)
		t.Cleanup(func() { client.Close(); s.stop() })
		return resourcetest.Fixture{Resource: client, Log: r.log}
	})
}

func TestRulesRefuseUnknownWords(t *testing.T) {
	for _, rules := range []resource.Rules{{Fencing: "atleast"}, {FenceOn: "reads"}} {
		err := resource.Serve(t.Context(), "127.0.0.1:0", rules, nil)
		if err == nil || !strings.Contains(err.Error(), "want") {
			t.Errorf("%+v: %v", rules, err)
		}
	}
}

// server is a running server of a test.
type server struct {
	addr string
	stop func() // and wait
}

func serve(t testing.TB, addr string, rules resource.Rules, emit func(history.Op)) server {
	t.Helper()
	store, err := resource.NewStore(rules, emit)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- resource.ServeListener(ctx, listener, store) }()
	return server{listener.Addr().String(), sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})}
}
