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
	Port    int    // of every server that clients are told of
	// Endpoints is the role (the name without its number) of the servers that
	// clients are told of; "": all servers of the profile.
	Endpoints string
	Named     int  // port of the servers that those of Endpoints name to clients
	Renews    bool // an open session renews its grants by itself, so they do not end at their lease
	Slow      bool // who waits asks once a lease, so what is free is granted up to a lease later than Promise.Bound has it; Bounded adds it
	Between   bool // an acquire takes the key by one request and needs another: it passes Config.Between
	Sparse    bool // tokens skip numbers, as they count all that the servers write
	// CheckLease says whether the driver can ask for a lease at all, before any
	// server runs. Its error matches ErrConfig; nil: any lease, or the lock has none.
	CheckLease func(time.Duration) error
	Broken     *Flaw // a control, broken on purpose; nil: meant to be sound
}

// Bounded is the promise for one lease, with all that its bound must leave.
func (l Lock) Bounded(lease time.Duration) history.Promise {
	p := l.Promise
	p.Renews = l.Renews
	if l.Slow {
		p.Bound += lease
	}
	return p
}

// Flaw is what is wrong with a lock that is broken on purpose: a control, which
// a run of dlmtest must catch.
type Flaw struct {
	Property string        // that it breaks, by its name in checker.Checkers
	Scenario string        // that shows it; baseline: contention is enough, every other one needs its fault
	Lease    time.Duration // of its run in the self-test; 0: the scenario's
	FenceOn  string        // of its run in the self-test; "": write
	About    string        // what is broken, who did it, and what must happen for it to show
}

// Names of the locks, sorted.
func Names() []string { return slices.Sorted(maps.Keys(Table)) }

// Controls are the names of the locks that are broken on purpose, sorted.
func Controls() []string {
	return slices.DeleteFunc(Names(), func(name string) bool { return Table[name].Broken == nil })
}

// Intact are the names of the locks that are not broken on purpose, sorted.
func Intact() []string {
	return slices.DeleteFunc(Names(), func(name string) bool { return Table[name].Broken != nil })
}

// Table holds the locks by name.
var Table = map[string]Lock{
	"redis": {Open: OpenRedis, CheckLease: wholeMillis, Profile: "redis", Port: 6379, Promise: history.Promise{
		Backend: "redis", Leased: true, Token: true, Extends: true, Tries: true, Bound: 500 * time.Millisecond,
		Shared: true, Changes: true, Permits: true, Reentry: history.ByThread,
		About: "SET NX PX on one Redis node, with a counter as fencing token; expiry is by the node's REALTIME",
	}},
	"redis-replicated": {Open: OpenRedisReplicated, CheckLease: wholeMillis, Profile: "redis-replicated", Port: 26379,
		Endpoints: "sentinel", Named: 6379, Promise: history.Promise{
			Backend: "redis-replicated", Leased: true, Token: true, Extends: true, Tries: true, Bound: 6 * time.Second, // a failover
			About: "the redis lock on the primary that three Sentinels name; replication is asynchronous, so a failover may " +
				"lose grants and repeat tokens, with WAIT too",
		}},
	"redlock": {Open: OpenRedlock, CheckLease: wholeMillis, Profile: "redlock", Port: 6379, Promise: redlockPromise("redlock",
		"the published Redlock algorithm on a quorum of independent Redis nodes; no fencing token")},
	"zookeeper": {Open: OpenZooKeeper, CheckLease: wholeMillis, Profile: "zookeeper", Port: 2181, Renews: true, Sparse: true, Promise: history.Promise{
		Backend: "zookeeper", Leased: true, Token: true, Session: true, Extends: true, Tries: true, Order: true,
		Shared: true, Permits: true, WakesOne: true, Survives: history.Restart,
		// A follower notices a leader that is stopped after syncLimit (10) ticks of 200 ms; then come an
		// election and the clients' return to their sessions. Measured: 3.0 to 3.4 s without a grant at lease 2 s.
		Bound: 3 * time.Second,
		About: "ephemeral sequential nodes, each waiter watching the one before it; the token is the node's czxid",
	}},
	"etcd": {Open: OpenEtcd, CheckLease: checkEtcdLease, Profile: "etcd", Port: 2379, Sparse: true, Promise: etcdPromise("etcd",
		"a queue of keys, each under a lease of its own, verified before it is claimed; the token is the create revision")},
	"postgres": {Open: OpenPostgres, Profile: "postgres", Port: 5432, Promise: history.Promise{
		Backend: "postgres", Token: true, Session: true, Tries: true, Shared: true, Bound: time.Second,
		About: "a row lock (SELECT … FOR UPDATE) in an open transaction; it ends with the session and has no lease",
	}},
	"postgres-advisory": {Open: OpenPostgresAdvisory, Profile: "postgres", Port: 5432, Promise: history.Promise{
		Backend: "postgres-advisory", Token: true, Session: true, Tries: true, Shared: true, Reentry: history.ByProcess, Bound: time.Second,
		About: "a session-level advisory lock on a hash of the key; it ends with the session and has no lease",
	}},

	"http": {Open: OpenHTTP, CheckLease: wholeMillis, Profile: "lockservice", Port: 8080, Endpoints: "lockservice", Promise: servicePromise("http",
		"a lock service by its HTTP API (docs/lock-service.md): the one in locks/service, or your own with --endpoint")},
	"grpc": {Open: OpenGRPC, CheckLease: wholeMillis, Profile: "lockservice", Port: 9090, Endpoints: "lockservice", Promise: servicePromise("grpc",
		"a lock service by its gRPC API (locks/lockpb/lock.proto): the one in locks/service, or your own with --endpoint")},

	"broken/no-owner-check": brokenRedis("no-owner-check", noOwnerCheck, Flaw{
		Property: "release-by-owner", Scenario: "naive-release",
		About: "Release is a plain DEL, so a holder that wakes after its lease frees whoever holds the key by then " +
			"(abelaska/jedis-lock #2, nexspence #223). It shows when a holder is stopped past its lease and then releases.",
	}),
	"broken/setnx-expire": inTwo(brokenRedis("setnx-expire", setnxExpire, Flaw{
		Property: "deadlock-freedom", Scenario: "orphan-between",
		About: "SETNX, then PEXPIRE as a second request (redis-py before 3.0, its PR #902; ShedLock #65; laravel/horizon #1738). " +
			"It shows when a client dies between the two: the key has no lease and stays for ever.",
	})),
	"broken/no-renewal": brokenRedis("no-renewal", noRenewal, Flaw{
		Property: "lease-exclusion", Scenario: "stall-worker",
		About: "Extend asks nobody: it is answered from what the client remembers (zeromicro/go-zero #1338 counts its acquires). " +
			"It shows when a grant is renewed past its first lease while another client wants the key; honest-claims breaks too.",
	}),
	"broken/clock-token": brokenRedis("clock-token", clockToken, Flaw{
		Property: "fencing-monotonic", Scenario: "clock-jump-client",
		About: "the token is the client's own REALTIME in ms, as where a timestamp serves as version. " +
			"It shows when the clock of one client steps, back or forth; grants less than a millisecond apart can share one.",
	}),
	"broken/token-after-lock": inTwo(brokenRedis("token-after-lock", tokenAfterLock, Flaw{
		Property: "fenced-writes", Scenario: "token-gap",
		FenceOn: "read", // the wrong client registers its token before the right one writes, every time
		About: "the token is taken by an INCR of its own after the SET had granted the key, as many recipes for fencing with Redis do. " +
			"It shows when a client is stopped between the two past its lease: the older grant gets the greater token, " +
			"and the valid holder's write is refused.",
	})),
	"broken/early-revoke":          brokenRedis("early-revoke", earlyRevoke, flawEarlyRevoke),
	"broken/permit-leak":           brokenRedis("permit-leak", permitLeak, flawPermitLeak),
	"broken/token-at-queue":        brokenRedis("token-at-queue", tokenAtQueue, flawTokenAtQueue),
	"broken/claims-always-ok":      brokenRedis("claims-always-ok", claimsAlwaysOK, flawClaimsAlwaysOK),
	"broken/forgets-after-restart": brokenRedis("forgets-after-restart", forgetsAfterRestart, flawForgetsAfterRestart),
	"broken/slow-handover":         brokenRedis("slow-handover", slowHandover, flawSlowHandover),
	"broken/semaphore-get":         brokenRedis("semaphore-get", semaphoreGet, flawSemaphore),
	"broken/readers-ignored":       brokenRedis("readers-ignored", readersIgnored, flawReadWrite),
	"broken/freed-at-once":         brokenRedis("freed-at-once", reentrantOnce, flawReentrant),
	"broken/deaf-watchdog":         brokenRedis("deaf-watchdog", deafWatchdog, flawWatchdog),
	"broken/ticket-ignored":        promisesOrder(brokenRedis("ticket-ignored", ignoreTicket, flawFair)),
	"broken/shy-try":               brokenRedis("shy-try", triesShy, flawTry),
	"broken/herd": {Open: openHerd, CheckLease: wholeMillis, Profile: "zookeeper", Port: 2181, Renews: true, Broken: &flawHerd, Promise: history.Promise{
		Backend: "broken/herd", Leased: true, Token: true, Session: true, Extends: true, Tries: true, Order: true,
		Shared: true, Permits: true, WakesOne: true, Survives: history.Restart, Bound: 3 * time.Second,
		About: "ephemeral sequential nodes, each waiter watching the first",
	}},
	"broken/quorum-two": {Open: openQuorumTwo, CheckLease: wholeMillis, Profile: "redlock", Port: 6379,
		Promise: redlockPromise("broken/quorum-two", "Redlock that takes two nodes of five for a quorum"),
		Broken: &Flaw{Property: "lease-exclusion", Scenario: "baseline",
			About: "two of five nodes are enough, so two clients can have a quorum each (SPSCommerce/redlock-py #6 counted the nodes it could reach; " +
				"redis/rueidis #161: KeyMajority is the user's to get right). Contention alone shows it: two clients ask five nodes at once.",
		}},
	"broken/lease-put": {Open: openLeasePut, CheckLease: checkEtcdLease, Profile: "etcd", Port: 2379,
		Promise: etcdPromise("broken/lease-put", "etcd, a plain PUT of one key with a lease"),
		Broken: &Flaw{Property: "mutual-exclusion", Scenario: "baseline",
			About: "the key is put with a lease and without comparing its create revision to 0, so everybody gets it: " +
				"home-made locks that took the lease for the lock (etcd-io/etcd PR #11490 says that it is none). Contention alone shows it.",
		}},
}

func redlockPromise(name, about string) history.Promise {
	return history.Promise{
		Backend: name, Leased: true, Extends: true, Tries: true, Bound: time.Second,
		DriftFactor: redlockDrift, DriftFixed: redlockFixed, Survives: history.Restart, About: about,
	}
}

func servicePromise(name, about string) history.Promise {
	return history.Promise{
		Backend: name, Leased: true, Token: true, Extends: true, Tries: true, Survives: history.Restart,
		// As for etcd, which is behind the one that dlmtest brings; a node that does not answer is left after half a lease.
		Bound: 3 * time.Second,
		About: about,
	}
}

func etcdPromise(name, about string) history.Promise {
	return history.Promise{
		Backend: name, Leased: true, Token: true, Session: true, Extends: true, Tries: true, Order: true,
		Shared: true, Permits: true, WakesOne: true, Survives: history.Restart,
		// A new leader starts all leases afresh: an election takes up to two election
		// timeouts of 1 s, and ended leases are looked for every 500 ms.
		Bound: 3 * time.Second,
		About: about,
	}
}

// MemoryPromise is what OpenMemory promises. It is not in Table: it has no cluster.
var MemoryPromise = history.Promise{
	Backend: "memory", Leased: true, Token: true, Extends: true, Tries: true, Bound: 100 * time.Millisecond,
	About: "a lock service inside the process, for tests and demonstrations",
}
