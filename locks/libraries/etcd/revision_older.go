//go:build older

package etcd

import (
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/client/v3/concurrency"
)

// createRevision is that of the key that the mutex compares for its owner.
func createRevision(m *concurrency.Mutex) int64 {
	cmp := etcdserverpb.Compare(m.IsOwner())
	return cmp.GetCreateRevision()
}
