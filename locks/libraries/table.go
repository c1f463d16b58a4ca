package libraries

import (
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks/libraries/etcd"
	"github.com/dlmtest/dlmtest/locks/libraries/etcdlock"
	"github.com/dlmtest/dlmtest/locks/libraries/gopglock"
	"github.com/dlmtest/dlmtest/locks/libraries/gozero"
	"github.com/dlmtest/dlmtest/locks/libraries/pglock"
	"github.com/dlmtest/dlmtest/locks/libraries/pins"
	"github.com/dlmtest/dlmtest/locks/libraries/redislock"
	"github.com/dlmtest/dlmtest/locks/libraries/redsync"
	"github.com/dlmtest/dlmtest/locks/libraries/rueidislock"
	"github.com/dlmtest/dlmtest/locks/libraries/zookeeper"
)

// Table holds the libraries under test by name: of each its adapter, and what that cannot
// say of itself.
var Table = map[string]Library{
	"redsync": golang(goLibrary{
		Adapter: redsync.Adapter, On: []string{"redlock", "redis"}, Millis: true,
		Source: pins.Source{Module: "github.com/go-redsync/redsync/v4", Since: "v4.0.0", Folder: "redsync", Name: "Adapter", Older: []pins.Older{
			{Before: "v4.4.1", Imports: goRedis8, Shim: true, Lacks: []string{"validity", "sent", "try"}}, // Until() came with it
			{Before: "v4.8.0", Imports: goRedis8, Shim: true, Lacks: []string{"try"}},
			{Before: "v4.11.0", Lacks: []string{"try"}},
		}},
		// A round may fail for each rival, and the next begins up to 250 ms later.
		Promise: history.Promise{Bound: 2 * time.Second, DriftFactor: redsync.Drift,
			About: "redsync: LockContext, TryLockContext, ExtendContext and UnlockContext on a go-redis client with its " +
				"defaults for each node; it tells by Until() how long a grant is valid"},
	}),
	"redislock": golang(goLibrary{
		Adapter: redislock.Adapter, On: []string{"redis"}, Millis: true,
		Source: pins.Source{Module: "github.com/bsm/redislock", Since: "v0.9.0", Folder: "redislock", Name: "Adapter"},
		Left:   map[string]string{"validity": "TTL asks the server for what is left, and says nothing with the grant"},
		Promise: history.Promise{
			About: "bsm/redislock: Obtain with a linear backoff of 100 ms, Refresh, Release, on a go-redis client with " +
				"its defaults; its token is random, so it fences nothing"},
	}),
	"rueidislock": golang(goLibrary{
		Adapter: rueidislock.Adapter, On: []string{"redis"}, Millis: true,
		Source: pins.Source{Module: "github.com/redis/rueidis", Since: "v1.0.60", Folder: "rueidislock", Name: "Adapter"},
		Left: map[string]string{"sent": "the end of a lease is computed before the request is sent, " +
			"so from the sending on the service owes less than a lease"},
		Promise: history.Promise{Bound: time.Second, Mute: true,
			About: "rueidislock on one Redis node with KeyMajority 1, as its documents have it for one; WithContext renews by itself " +
				"and tells of a loss by its context, which does not say until when the lock is held; Release is that context's cancel, which answers nothing"},
	}),
	"go-zero": golang(goLibrary{
		Adapter: gozero.Adapter, On: []string{"redis"}, Millis: true,
		Source: pins.Source{Module: "github.com/zeromicro/go-zero", Since: "v1.3.0", Folder: "gozero", Name: "Adapter"},
		Left:   map[string]string{"reentrant": "an Acquire by the holder renews the lease, and one Release ends it"},
		Promise: history.Promise{Bound: 2 * time.Second,
			About: "go-zero's RedisLock: Acquire, Acquire once more to renew, Release; the server keeps it 0.5 to 1 s longer than asked for"},
	}),
	"etcd-concurrency": golang(goLibrary{
		Adapter: etcd.Mutex, On: []string{"etcd"}, Source: etcdSource("Mutex", "try"),
		Promise: history.Promise{
			About: "etcd's concurrency.Mutex on one Session a client, which renews its lease by itself and tells by Done() when it is lost; " +
				"Unlock succeeds on a lock that is gone; the token is the create revision of its key, as IsOwner has it"},
	}),
	"etcd-election": golang(goLibrary{
		Adapter: etcd.Election, On: []string{"etcd"}, Source: etcdSource("Election"),
		Promise: history.Promise{
			About: "etcd's concurrency.Election on one Session a client: Campaign waits until the client leads, Resign " +
				"says yes to a client that does not lead any more; the token is Rev(), the create revision of the leader's key"},
	}),
	"etcd-rwmutex": golang(goLibrary{
		Adapter: etcd.RWMutex, On: []string{"etcd"}, Source: etcdSource("RWMutex"),
		Left: map[string]string{"token": "the create revision of its key, which it keeps to itself"},
		Promise: history.Promise{
			About: "the RWMutex recipe of etcd's client, under a Session for each lock: Lock and RLock, whose wait ends " +
				"with its session alone; it does not name its key, so there is no token"},
	}),
	"etcd-lock": golang(goLibrary{
		Adapter: etcdlock.Adapter, On: []string{"etcd"},
		Source: pins.Source{Module: "go.etcd.io/etcd/server/v3", Since: "v3.5.0", Folder: "etcdlock", Name: "Adapter",
			Requires: []string{"go.etcd.io/etcd/client/v3 @"}},
		Promise: history.Promise{
			About: "the lock service of an etcd server, by its API; the token is the revision that its answer carries"},
	}),
	"go-zookeeper": golang(goLibrary{
		Adapter: zookeeper.Adapter, On: []string{"zookeeper"},
		Source: pins.Source{Module: "github.com/go-zookeeper/zk", Since: "v1.0.0", Folder: "zookeeper", Name: "Adapter"},
		Promise: history.Promise{
			About: "zk.Lock on one connection a client: Lock and Unlock, without a context and without a try, so a wait " +
				"can neither be bounded nor cancelled; " +
				"the events of the connection tell of its session; the lock does not name its node, so there is no token"},
	}),
	"pglock": golang(goLibrary{
		Adapter: pglock.Adapter, On: []string{"postgres"}, Millis: true, Slow: true, Source: pglockSource("Adapter"),
		Left: map[string]string{"extend": "SendHeartbeat does what the library does by itself"},
		Promise: history.Promise{
			About: "cirello.io/pglock: AcquireContext with a heartbeat of a quarter of the lease, as its defaults have " +
				"it; a loss is found by asking IsReleased; " +
				"a waiting client asks once a lease, so a free lock is granted up to a lease later; its record version is not monotonic and no token"},
	}),
	"pglock-do": golang(goLibrary{
		Adapter: pglock.Do, On: []string{"postgres"}, Millis: true, Slow: true, Source: pglockSource("Do"),
		Left: map[string]string{"extend": "SendHeartbeat does what the library does by itself"},
		Promise: history.Promise{
			About: "pglock's Do, which runs a function under the lock and gives it back when that returns; it cancels its context when the lock is lost"},
	}),
	"go-pglock": golang(goLibrary{
		Adapter: gopglock.Adapter, On: []string{"postgres-advisory"},
		Source: pins.Source{Module: "github.com/allisson/go-pglock/v3", Since: "v3.0.0", Folder: "gopglock", Name: "Adapter", Older: []pins.Older{
			{Before: "v3.2.0", Lacks: []string{"shared"}},
		}},
		Left: map[string]string{"order": "PostgreSQL wakes waiters in their order, and neither documents promise it"},
		Promise: history.Promise{
			About: "allisson/go-pglock: a session-level advisory lock, WaitAndLock, WaitAndRLock and Unlock on a connection of its own; " +
				"it tells of no loss, and Unlock says nil whether the lock was held or not"},
	}),

	"curator":           curator("mutex"),
	"curator-downgrade": curator("downgrade"),
	"curator-rw":        curator("rw"),
	"curator-semaphore": curator("semaphore"),
	"kazoo":             kazoo("mutex"),
	"kazoo-rw":          kazoo("rw"),
	"python-etcd3":      pythonEtcd3,
	"redis-py":          redisPy,
}

// goRedis8 is where the client of Redis lay before redsync knew the newest.
var goRedis8 = map[string]string{
	"github.com/redis/go-redis/v9":                      "github.com/go-redis/redis/v8",
	"github.com/go-redsync/redsync/v4/redis/goredis/v9": "github.com/go-redsync/redsync/v4/redis/goredis/v8",
}

func pglockSource(name string) pins.Source {
	return pins.Source{Module: "cirello.io/pglock", Since: "v1.10.0", Folder: "pglock", Name: name}
}

// etcdSource is how the client of etcd is built, which was no module of its own before v3.5.0.
func etcdSource(name string, lacks ...string) pins.Source {
	return pins.Source{Module: "go.etcd.io/etcd/client/v3", Since: "v3.3.0", Folder: "etcd", Name: name, Older: []pins.Older{
		{Before: "v3.5.0", Module: "github.com/coreos/etcd", Shim: true, Lacks: lacks,
			Requires: []string{"google.golang.org/grpc v1.7.5"}, // its own go.mod is younger
			Imports: map[string]string{
				"go.etcd.io/etcd/api/v3/etcdserverpb":            "github.com/coreos/etcd/etcdserver/etcdserverpb",
				"go.etcd.io/etcd/client/v3":                      "github.com/coreos/etcd/clientv3",
				"go.etcd.io/etcd/client/v3/concurrency":          "github.com/coreos/etcd/clientv3/concurrency",
				"go.etcd.io/etcd/client/v3/experimental/recipes": "github.com/coreos/etcd/contrib/recipes",
			}},
		{Before: "v3.7.0", Shim: true}, // Compare was a plain struct
	}}
}
