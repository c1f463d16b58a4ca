package pins

import (
	"time"

	"github.com/dlmtest/dlmtest/history"
)

// Table holds all adapters, of each library the oldest versions first.
var Table = []Source{
	{Library: "redsync", Module: "github.com/go-redsync/redsync/v4", Since: "v4.0.0", File: "redsync.go",
		Promise: history.Promise{Backend: "redlock", Leased: true, Extends: true, Bound: 2 * time.Second, Validity: history.Untold,
			About: "redsync v4 before Until(): it does not tell until when a lock is valid"}},
	{Library: "redsync", Module: "github.com/go-redsync/redsync/v4", Since: "v4.4.1", File: "redsync.go",
		Promise: history.Promise{Backend: "redlock", Leased: true, Extends: true, Bound: 2 * time.Second, DriftFactor: 0.01,
			About: "redsync v4: LockContext, ExtendContext, UnlockContext and Until()"}},
	{Library: "go-zero", Module: "github.com/zeromicro/go-zero", Since: "v1.3.0", File: "gozero.go",
		Promise: history.Promise{Backend: "redis", Leased: true, Extends: true, Tries: true, Bound: 2 * time.Second, Validity: history.Reckoned,
			About: "go-zero's RedisLock: Acquire, Acquire once more to renew, Release; the server keeps it 0.5 to 1 s longer than asked for"}},
	{Library: "rueidislock", Module: "github.com/redis/rueidis", Since: "v1.0.60", File: "rueidis.go", Renews: true,
		Promise: history.Promise{Backend: "redis", Leased: true, Tries: true, Session: true, Bound: time.Second, Validity: history.Untold,
			About: "rueidislock of one key: WithContext, whose context ends when the lock is lost; it extends by itself and tells no deadline"}},
	{Library: "go-zookeeper", Module: "github.com/go-zookeeper/zk", Since: "v1.0.0", File: "zk.go", Renews: true,
		Promise: history.Promise{Backend: "zookeeper", Leased: true, Session: true, Order: true, NoLimit: true, Bound: 3 * time.Second, Validity: history.Untold,
			About: "go-zookeeper's zk.Lock: Lock and Unlock, whose wait nobody can end; the connection's events are the only word of a loss"}},
	{Library: "pglock", Module: "cirello.io/pglock", Since: "v1.10.0", File: "pglock.go", Renews: true, Slow: true,
		Promise: history.Promise{Backend: "postgres", Leased: true, Bound: time.Second, Validity: history.Untold,
			About: "pglock: a row with a version that a heartbeat raises; who finds the same version a lease later takes the lock"}},
	{Library: "pglock-do", Module: "cirello.io/pglock", Since: "v1.10.0", File: "pglockdo.go", Renews: true, Slow: true,
		Promise: history.Promise{Backend: "postgres", Leased: true, Session: true, Bound: time.Second, Validity: history.Untold,
			About: "pglock's Do, which runs a function under the lock and gives it back when that returns; it cancels its context when the lock is lost"}},
	{Library: "etcd-lock", Module: "go.etcd.io/etcd/server/v3", Since: "v3.5.0", File: "etcdrpc.go",
		Requires: []string{"go.etcd.io/etcd/client/v3 @"},
		Promise: history.Promise{Backend: "etcd", Leased: true, Extends: true, Token: true, Order: true, Bound: 3 * time.Second, Validity: history.Untold,
			About: "the lock service of an etcd server, by its API; the token is the revision that its answer carries"}},
	{Library: "etcd-concurrency", Module: "github.com/coreos/etcd", Since: "v3.3.0", File: "etcd33.go", Renews: true,
		Requires: []string{"google.golang.org/grpc v1.7.5"}, // its own go.mod is younger
		Promise:  etcdConcurrency},
	{Library: "etcd-concurrency", Module: "go.etcd.io/etcd/client/v3", Since: "v3.5.0", File: "etcdmutex.go", Renews: true, Promise: etcdConcurrency},
	{Library: "etcd-rwmutex", Module: "go.etcd.io/etcd/client/v3", Since: "v3.5.0", File: "etcdrw.go", Renews: true,
		Promise: history.Promise{Backend: "etcd", Leased: true, Session: true, Order: true, NoLimit: true, Bound: 3 * time.Second, Validity: history.Untold,
			About: "the RWMutex recipe of etcd's client, writers alone: Lock and Unlock, whose wait nobody can end"}},
}

var etcdConcurrency = history.Promise{Backend: "etcd", Leased: true, Session: true, Order: true, Bound: 3 * time.Second, Validity: history.Untold,
	About: "etcd's concurrency.Mutex under a Session for each lock, which renews its lease by itself"}
