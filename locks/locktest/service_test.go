package locktest_test

import (
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/locks/locktest"
	"github.com/dlmtest/dlmtest/locks/service"
	"github.com/dlmtest/dlmtest/locks/service/servicetest"
)

// The backends http and grpc pass the suite against two nodes of the reference service
// on a real etcd, by each of its APIs.
func TestServiceConforms(t *testing.T) {
	t.Parallel()
	c := service.Config{Etcd: []string{servicetest.Etcd(t)}, Bearer: "secret"}
	a, b := servicetest.Start(t, c), servicetest.Start(t, c)
	for backend, endpoints := range map[string][]string{"http": {a.HTTP, b.HTTP}, "grpc": {a.GRPC, b.GRPC}} {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			config := locks.Config{Endpoints: endpoints, Lease: 2 * time.Second, Seed: 1, Bearer: "secret"}
			if err := locktest.Err(locktest.Run(t.Context(), locktest.For(locks.Table[backend], config))); err != nil {
				t.Error(err)
			}
		})
	}
}
