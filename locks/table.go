package locks

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/dlmtest/dlmtest/history"
)

// Opener opens one client's session.
type Opener func(ctx context.Context, c Config) (Client, error)

// Lock is one reference lock: how to open it, what it promises and where it runs.
type Lock struct {
	Open    Opener
	Promise history.Promise
	Profile string // of docker-compose.yml
	Port    int    // of every server of the profile
	Renews  bool   // an open session renews its grants by itself, so they do not end at their lease
}

// Names of the reference locks, sorted.
func Names() []string { return slices.Sorted(maps.Keys(Table)) }

// Table holds the reference locks by name.
var Table = map[string]Lock{
	"redis": {OpenRedis, history.Promise{
		Backend: "redis", Leased: true, Token: true, Extends: true, Tries: true, Bound: 500 * time.Millisecond,
		About: "SET NX PX on one Redis node, with a counter as fencing token; expiry is by the node's REALTIME",
	}, "redis", 6379, false},
	"redlock": {OpenRedlock, history.Promise{
		Backend: "redlock", Leased: true, Extends: true, Tries: true, Bound: time.Second,
		DriftFactor: redlockDrift, DriftFixed: redlockFixed,
		About: "the published Redlock algorithm on a quorum of independent Redis nodes; no fencing token",
	}, "redlock", 6379, false},
	"zookeeper": {OpenZooKeeper, history.Promise{
		Backend: "zookeeper", Leased: true, Token: true, Session: true, Extends: true, Tries: true, Order: true,
		Bound: time.Second, // expiry is rounded up to the tick
		About: "ephemeral sequential nodes, each waiter watching the one before it; the token is the node's czxid",
	}, "zookeeper", 2181, true},
	"etcd": {OpenEtcd, history.Promise{
		Backend: "etcd", Leased: true, Token: true, Session: true, Extends: true, Tries: true, Order: true,
		Bound: 2 * time.Second, // the leader looks for ended leases every 500 ms, and a new leader starts them afresh
		About: "a queue of keys, each under a lease of its own, verified before it is claimed; the token is the create revision",
	}, "etcd", 2379, false},
	"postgres": {OpenPostgres, history.Promise{
		Backend: "postgres", Token: true, Session: true, Tries: true, Bound: time.Second,
		About: "a row lock (SELECT … FOR UPDATE) in an open transaction; it ends with the session and has no lease",
	}, "postgres", 5432, false},
	"postgres-advisory": {OpenPostgresAdvisory, history.Promise{
		Backend: "postgres-advisory", Token: true, Session: true, Tries: true, Bound: time.Second,
		About: "a session-level advisory lock on a hash of the key; it ends with the session and has no lease",
	}, "postgres", 5432, false},
}

// MemoryPromise is what OpenMemory promises. It is not in Table: it has no cluster.
var MemoryPromise = history.Promise{
	Backend: "memory", Leased: true, Token: true, Extends: true, Tries: true, Bound: 100 * time.Millisecond,
	About: "a lock service inside the process, for tests and demonstrations",
}
