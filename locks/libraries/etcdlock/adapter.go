// Package etcdlock is the adapter of the lock service of an etcd server, by its API: Lock of a
// name under a lease that the client renews itself, and Unlock. The server waits on behalf of
// the client. The fencing token is the revision in the answer's header, which is all that a
// caller gets. It runs in a process of its own alone: the API's module is the whole server's.
package etcdlock

import "github.com/dlmtest/dlmtest/locks/protocol/adapter"

// Adapter is the library behind the lock client protocol; it opens where it is built alone.
var Adapter = adapter.Adapter{Name: "etcd-lock", Offers: []string{"lease", "extend", "wait", "token", "order"}}
