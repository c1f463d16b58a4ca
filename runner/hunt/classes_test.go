package hunt

import (
	"slices"

	"github.com/dlmtest/dlmtest/nemesis/agent/links"
	"github.com/dlmtest/dlmtest/scenarios"
)

// schedule is the least that a class of bugs needs of a trial; see docs/hunt.md.
type schedule struct {
	name, backend, library string
	messages               []links.Passed // that its servers' links carry
	has                    func(scenarios.Scenario) bool
}

// any says whether a fault of the trial is so.
func hit(t scenarios.Scenario, is func(f scenarios.Fault, length float64) bool) bool {
	return slices.ContainsFunc(t.Faults, func(f scenarios.Fault) bool { return is(f, of(t, f.For.Max)) })
}

func among[T comparable](x T, all ...T) bool { return slices.Contains(all, x) }

// away are the faults that keep a client from its servers, and its servers from it.
var away = []string{"pause", "partition", "blackhole", "hold-answer", "hold-request"}

// oneServer are the targets that are one server, or few.
var oneServer = []string{"a-server", "a-follower", "minority", "reached", "leader", "a-quorum-member-of-the-holder"}

func ordinary(t scenarios.Scenario) bool {
	return among(t.Workload, "guarded-write", "try", "leader", "watchdog", "two-keys", "reentrant", "semaphore", "read-write")
}

func contended(t scenarios.Scenario) bool { return ordinary(t) && t.Clients >= 2 && t.Keys <= 2 }

// schedules are those of the corpus (docs/corpus.md), and of classes beside it. Those that need a server to forget,
// or its clock to step, are left out: the reference lock of the same servers shows what follows, too.
var schedules = []schedule{
	{name: "a server refuses while a holder renews", backend: "redlock", library: "redsync@v4.12.0", has: func(t scenarios.Scenario) bool {
		return contended(t) && t.Renew && of(t, t.Work) > 0.5 && hit(t, func(f scenarios.Fault, n float64) bool {
			return among(f.Fault, "kill", "crash") && among(f.Target, oneServer...) && n > 0.4 && !among(f.On, "releasing")
		})
	}},
	{name: "a holder stops beyond its lease, then renews or releases", backend: "redlock", library: "redsync@v4.0.3", has: func(t scenarios.Scenario) bool {
		return contended(t) && of(t, t.Wait) > 1.2 && hit(t, stopsHolder)
	}},
	{name: "a renewing holder stops beyond its lease", backend: "redis", library: "go-zero@v1.3.1", has: func(t scenarios.Scenario) bool {
		return contended(t) && t.Renew && of(t, t.Wait) > 1.2 && hit(t, stopsHolder)
	}},
	{name: "a holder is away until the next one is done", backend: "redis", has: func(t scenarios.Scenario) bool {
		return contended(t) && t.Renew && t.Clients <= 3 && of(t, t.Think) >= 0.9 && of(t, t.Work) >= 0.35 && of(t, t.Work) <= 0.8 &&
			hit(t, func(f scenarios.Fault, n float64) bool {
				return among(f.Fault, away...) && among(f.On, "renewing", "before-write", "acquired") && n > 0.9+of(t, t.Work) && n < 0.9+of(t, t.Work)+of(t, t.Think)
			})
	}},
	{name: "a client dies between two requests of an acquire", backend: "redis", has: func(t scenarios.Scenario) bool { return cutsShort(t, "kill", 0) }},
	{name: "a client stops between two requests of an acquire", backend: "redis", has: func(t scenarios.Scenario) bool { return cutsShort(t, "pause", 1.05) }},
	{name: "a long hold over slow links", backend: "redis", library: "rueidislock@v1.0.69", has: func(t scenarios.Scenario) bool {
		return ordinary(t) && hit(t, func(f scenarios.Fault, n float64) bool {
			return f.Fault == "latency" && n >= of(t, t.Work) && of(t, f.Latency)*of(t, t.Work) > 0.25 // each renewal slides by a round trip
		})
	}},
	{name: "contention beyond the leases of those who wait", backend: "etcd", library: "etcd-lock@v3.5.13", has: func(t scenarios.Scenario) bool {
		return contended(t) && t.Clients >= 3 && t.Renew && of(t, t.Work) >= 1.5 && of(t, t.Wait) > 2*of(t, t.Work)
	}},
	{name: "the leader's disk stalls beyond a lease, holders renew", backend: "etcd", library: "etcd-concurrency@v3.5.13", has: func(t scenarios.Scenario) bool {
		return ordinary(t) && of(t, t.Work) >= 0.3 && t.Clients > 2 && hit(t, func(f scenarios.Fault, n float64) bool {
			return f.Fault == "disk-stall" && f.Target == "leader" && n > 1.5
		})
	}},
	{name: "a link breaks at a message of an acquire", backend: "zookeeper", library: "go-zookeeper@v1.0.4", messages: zkMessages, has: func(t scenarios.Scenario) bool {
		return contended(t) && hit(t, func(f scenarios.Fault, _ float64) bool {
			children := f.When.Name == "getChildren2" && f.When.Skip == 0 || f.When.Contains == "key-1" && f.When.Skip == 1 // it follows the create
			return f.Fault == "cut-link" && children && !f.When.After && among(f.On, "at", "waiting")
		})
	}},
	{name: "short holds over links that are hardly slow", backend: "postgres", library: "pglock-do@v1.10.0", has: func(t scenarios.Scenario) bool {
		return of(t, t.Work) < 0.15 && hit(t, func(f scenarios.Fault, n float64) bool {
			return f.Fault == "latency" && of(t, f.Latency) < 0.05 && n > 0.5
		})
	}},
	{name: "one server stops for longer than lease and bound", backend: "redlock", library: "redsync@v4.4.4", has: func(t scenarios.Scenario) bool {
		held := min(of(t, t.Work), 1)
		if t.Renew {
			held = of(t, t.Work)
		}
		return contended(t) && hit(t, func(f scenarios.Fault, n float64) bool {
			owed := n > 1.1+2/t.Lease.Of(0).Seconds()+held
			return f.Fault == "pause" && among(f.Target, oneServer...) && owed && (of(t, t.Wait) > 0.9*n || of(t, t.Duration) > n)
		})
	}},
	{name: "a waiter is away beyond its lease", backend: "etcd", library: "etcd-concurrency@v3.3.8+incompatible", has: waiterAway},
	{name: "a waiter is away beyond its lease, read-write", backend: "etcd", library: "etcd-rwmutex@v3.6.0", has: waiterAway},
	{name: "contention of readers and writers", backend: "redis", has: func(t scenarios.Scenario) bool {
		return t.Workload == "read-write" && t.Clients >= 3 && t.Keys == 1
	}},
	{name: "readers who join a hold and outlive its beginner", backend: "redis", has: func(t scenarios.Scenario) bool {
		return t.Workload == "read-write" && t.Clients >= 3 && t.Keys == 1 && of(t, t.Work) >= 0.3 && of(t, t.Work) <= 0.95 && of(t, t.Wait) > 1
	}},
	{name: "a client gives up, and stays away", backend: "etcd", has: func(t scenarios.Scenario) bool {
		return contended(t) && of(t, t.Think) >= 0.5 && hit(t, func(f scenarios.Fault, n float64) bool {
			return among(f.Fault, "hold-answer", "hold-request", "cut-link") && among(f.On, "at", "waiting") && of(t, t.Wait) < max(n, 0.7)
		})
	}},
	{name: "the second message of a name, its answer", backend: "etcd", messages: etcdMessages, has: func(t scenarios.Scenario) bool {
		return contended(t) && hit(t, func(f scenarios.Fault, n float64) bool {
			return among(f.Fault, "hold-answer", "cut-link") && f.When.Skip == 1 && among(f.On, "waiting", "at", "renewing")
		})
	}},
	{name: "connections are reset in the middle", backend: "redis", has: func(t scenarios.Scenario) bool {
		return contended(t) && hit(t, func(f scenarios.Fault, n float64) bool {
			return f.Fault == "reset" && among(f.On, "waiting", "renewing", "releasing", "acquired") && n < 0.5
		})
	}},
	{name: "the leader is cut off from all", backend: "zookeeper", has: func(t scenarios.Scenario) bool {
		return contended(t) && hit(t, func(f scenarios.Fault, n float64) bool {
			return f.Fault == "partition" && f.Target == "leader" && among(f.From, "", "servers") && n > 1
		})
	}},
	{name: "the leader is cut off until others are owed the key", backend: "zookeeper", has: func(t scenarios.Scenario) bool {
		return contended(t) && hit(t, func(f scenarios.Fault, n float64) bool {
			cut := f.Fault == "partition" && f.Target == "leader" && among(f.From, "", "servers")
			return cut && n > 1.1+3/t.Lease.Of(0).Seconds()+of(t, t.Work) && of(t, t.Duration)+of(t, t.Wait) > n+0.5
		})
	}},
	{name: "a patient holder is answered late", backend: "redis", has: func(t scenarios.Scenario) bool {
		return contended(t) && t.Renew && t.Patience != scenarios.Impatient && hit(t, func(f scenarios.Fault, n float64) bool {
			return among(f.Fault, "hold-answer", "hold-request") && f.On == "renewing" && n > 0.7
		})
	}},
	{name: "a release comes late, and its client has asked again", backend: "etcd", library: "etcd-concurrency", messages: etcdMessages, has: func(t scenarios.Scenario) bool {
		return contended(t) && t.ReleaseWait.Leases > 0 && hit(t, func(f scenarios.Fault, n float64) bool {
			held := f.Fault == "hold-request" && f.Target == "holder" && f.When.Contains != "" || f.Fault == "partition" && f.From == "servers"
			return held && f.On == "releasing" && n > t.ReleaseWait.Leases
		})
	}},
	{name: "an acquire is answered late, and its client holds on", backend: "redis", has: func(t scenarios.Scenario) bool {
		return contended(t) && t.Keys == 1 && of(t, t.Work) >= 0.4 && hit(t, func(f scenarios.Fault, n float64) bool {
			return among(f.Fault, "hold-answer", "hold-request") && among(f.On, "waiting", "at") && n > 0.3
		})
	}},
	{name: "many give up while another holds", backend: "redis", has: func(t scenarios.Scenario) bool {
		return contended(t) && t.Clients >= 3 && t.Keys == 1 && of(t, t.Wait) < of(t, t.Work)
	}},
	{name: "a waiter dies", backend: "zookeeper", has: func(t scenarios.Scenario) bool {
		return contended(t) && t.Clients >= 3 && of(t, t.Work) >= 0.3 && hit(t, func(f scenarios.Fault, n float64) bool {
			return f.Fault == "kill" && (f.Target == "a-waiter" || f.Target == "holder" && f.On == "waiting")
		})
	}},
	{name: "a hold ends as its lease does, over slow links", backend: "redis", has: func(t scenarios.Scenario) bool {
		return contended(t) && !t.Renew && t.Clients >= 3 && of(t, t.Work) >= 0.5 && of(t, t.Work) <= 1.1 && hit(t, func(f scenarios.Fault, n float64) bool {
			return f.Fault == "latency" && of(t, f.Latency) > 0.015 && n > 2
		})
	}},
	{name: "an acquire is answered after its client has asked again", backend: "redis", has: func(t scenarios.Scenario) bool {
		return contended(t) && !t.Renew && t.Keys == 1 && of(t, t.Work) > 0.7 && of(t, t.Wait) > 1 && hit(t, func(f scenarios.Fault, n float64) bool {
			return among(f.Fault, "hold-answer", "blackhole") && f.On == "waiting" && n > 0.3 && n < 1
		})
	}},
	{name: "the question of a release is answered late", backend: "redis", has: func(t scenarios.Scenario) bool {
		return contended(t) && t.ReleaseWait.Leases == 0 && of(t, t.Wait) > 1 && hit(t, func(f scenarios.Fault, n float64) bool {
			held := f.Fault == "hold-answer" && f.When.Skip == 0 || f.Fault == "hold-request" && f.When.Skip == 1
			return held && f.Target == "holder" && f.On == "releasing" && n+of(t, t.Work) > 1.05
		})
	}},
	{name: "a connection breaks at a release", backend: "zookeeper", messages: zkMessages, has: func(t scenarios.Scenario) bool {
		return contended(t) && t.ReleaseWait.Leases == 0 && hit(t, func(f scenarios.Fault, n float64) bool {
			return f.Fault == "cut-link" && f.Target == "holder" && f.On == "releasing" && f.When.Skip == 0 && !f.When.After && n < 0.6 // its session lives on
		})
	}},
	{name: "a renewal is answered after its lease", backend: "redis", has: func(t scenarios.Scenario) bool {
		return contended(t) && t.Renew && hit(t, func(f scenarios.Fault, n float64) bool {
			return among(f.Fault, "hold-answer", "blackhole") && f.Target == "holder" && f.On == "renewing" && n > 1.05
		})
	}},
	{name: "the second request of a renewal comes after its lease", backend: "redis", has: func(t scenarios.Scenario) bool {
		return contended(t) && t.Renew && t.Patience != scenarios.Impatient && hit(t, func(f scenarios.Fault, n float64) bool {
			return f.Fault == "hold-request" && f.When.Skip == 1 && f.Target == "holder" && f.On == "renewing" && n > 1.05
		})
	}},
	{name: "one renewal is lost", backend: "etcd", messages: etcdMessages, has: func(t scenarios.Scenario) bool {
		return contended(t) && t.Renew && of(t, t.Work) > 0.7 && hit(t, func(f scenarios.Fault, n float64) bool {
			return among(f.Fault, "hold-answer", "hold-request", "blackhole", "reset", "cut-link") && f.Target == "holder" && f.On == "renewing" && n < 0.7
		})
	}},
	{name: "a waiter's links break as another gives the key back", backend: "etcd", messages: etcdMessages, has: func(t scenarios.Scenario) bool {
		return contended(t) && of(t, t.Wait) > 2 && hit(t, func(f scenarios.Fault, n float64) bool {
			return among(f.Fault, "reset", "partition", "blackhole", "cut-link") && among(f.Target, "a-waiter", "clients") && n < 1 && among(f.On, "acquired", "releasing", "at", "writing")
		})
	}},
	{name: "a waiter's connection breaks as the key is given back, and it waits long", backend: "etcd", messages: etcdMessages, has: func(t scenarios.Scenario) bool {
		return contended(t) && t.Clients <= 3 && of(t, t.Wait) > 4 && hit(t, func(f scenarios.Fault, n float64) bool {
			return f.Fault == "reset" && among(f.Target, "a-waiter", "clients") && f.On == "releasing"
		})
	}},
	{name: "a watchdog is answered after its lease", backend: "redis", has: func(t scenarios.Scenario) bool {
		return t.Workload == "watchdog" && of(t, t.Work) > 1.2 && hit(t, func(f scenarios.Fault, n float64) bool {
			return among(f.Fault, "hold-answer", "hold-request", "blackhole", "partition") && f.Target == "holder" && among(f.On, "acquired", "before-write", "writing") && n > 1
		})
	}},
	{name: "a watchdog is not answered once", backend: "redis", has: func(t scenarios.Scenario) bool {
		return t.Workload == "watchdog" && of(t, t.Work) > 1.2 && hit(t, func(f scenarios.Fault, n float64) bool {
			return among(f.Fault, append(away, "reset")...) && f.Target == "holder" && among(f.On, "acquired", "at") && n > 0.3 && n < 0.9
		})
	}},
	{name: "a client gives up while its create has no answer", backend: "zookeeper", messages: zkMessages, has: func(t scenarios.Scenario) bool {
		return contended(t) && of(t, t.Wait) < 0.5 && hit(t, func(f scenarios.Fault, n float64) bool {
			create := f.When.Name == "create" && f.When.Skip == 0 || f.When.Contains == "key-1" && f.When.Skip == 1
			return among(f.Fault, "hold-answer", "hold-request") && f.On == "waiting" && create && !f.When.After && n > of(t, t.Wait)+0.05 && n < 0.67
		})
	}},
	{name: "a queue moves on between two requests of an acquire, whose client waits beyond what is owed", backend: "zookeeper", messages: zkMessages, has: func(t scenarios.Scenario) bool {
		return contended(t) && of(t, t.Wait) > of(t, beyondOwed(t))-0.1 && hit(t, func(f scenarios.Fault, n float64) bool {
			held := among(f.Fault, "hold-request", "hold-answer") && f.On == "waiting" && n >= 0.1 && n < 0.6 && f.When.Name == "getChildren2"
			return held || f.Fault == "latency" && of(t, f.Latency) > 0.05 && of(t, t.Work) < 4*of(t, f.Latency) && n > 2
		})
	}},
	{name: "a connection breaks behind a create of an acquire", backend: "zookeeper", messages: zkMessages, has: func(t scenarios.Scenario) bool {
		return contended(t) && hit(t, func(f scenarios.Fault, n float64) bool {
			return f.Fault == "cut-link" && f.Target == "holder" && f.On == "waiting" && f.When.Name == "create" && f.When.Skip == 0 && f.When.After && n < 0.7
		})
	}},
	{name: "a client gives up while its links are away, and its session lives on", backend: "zookeeper", messages: zkMessages, has: func(t scenarios.Scenario) bool {
		return contended(t) && of(t, t.Wait) < 0.5 && of(t, t.Work) > of(t, t.Wait) && hit(t, func(f scenarios.Fault, n float64) bool {
			return among(f.Fault, "reset", "blackhole") && f.Target == "a-waiter" && f.On == "acquired" && n > of(t, t.Wait) && n < 0.7
		})
	}},
	{name: "a holder dies", backend: "redis", has: func(t scenarios.Scenario) bool {
		return contended(t) && of(t, t.Wait) > 1.5 && hit(t, holderDies)
	}},
	{name: "a holder dies after renewals", backend: "redis", has: func(t scenarios.Scenario) bool {
		return contended(t) && t.Renew && of(t, t.Work) > 0.7 && of(t, t.Wait) > 1.5 && hit(t, func(f scenarios.Fault, n float64) bool {
			return holderDies(f, n) && f.On != "acquired"
		})
	}},
	{name: "a holder of permits dies", backend: "redis", has: func(t scenarios.Scenario) bool {
		return t.Workload == "semaphore" && of(t, t.Wait) > 1.5 && hit(t, holderDies)
	}},
	{name: "a reader dies", backend: "redis", has: func(t scenarios.Scenario) bool {
		return t.Workload == "read-write" && of(t, t.Wait) > 1.5 && hit(t, holderDies)
	}},
	{name: "a reader or a writer stops beyond its lease", backend: "redis", has: func(t scenarios.Scenario) bool {
		return t.Workload == "read-write" && t.Clients >= 3 && of(t, t.Wait) > 1.2 && hit(t, stopsHolder)
	}},
	{name: "a holder of permits stops beyond its lease", backend: "redis", has: func(t scenarios.Scenario) bool {
		return t.Workload == "semaphore" && t.Clients >= 3 && of(t, t.Wait) > 1.2 && hit(t, stopsHolder)
	}},
	{name: "a connection breaks under a hold that a lock renews by itself", backend: "redis", library: "rueidislock", has: breaksLongHold},
	{name: "a holder is away beyond its lease, and has long holds later", backend: "redis", library: "rueidislock", has: func(t scenarios.Scenario) bool {
		return contended(t) && t.Clients == 2 && of(t, t.Work) > 1.15 && of(t, t.Wait) > 2 && of(t, t.Duration) > 7 && hit(t, stopsHolder)
	}},
	{name: "a connection breaks under a long hold without a lease", backend: "postgres-advisory", has: breaksLongHold},
	{name: "a holder within a hold misses an answer", backend: "redis", has: func(t scenarios.Scenario) bool {
		return t.Workload == "reentrant" && hit(t, func(f scenarios.Fault, n float64) bool {
			return f.Target == "holder" && f.Fault != "kill" && f.Fault != "pause" && f.On != "waiting"
		})
	}},
	{name: "a client with a key of its own is away beyond its lease", backend: "zookeeper", has: func(t scenarios.Scenario) bool {
		return t.Workload == "own-key" && hit(t, func(f scenarios.Fault, n float64) bool {
			return among(f.Fault, away...) && among(f.Target, "holder", "a-client", "clients") && n > 1.05
		})
	}},
	{name: "the clock of a holder or of a waiter steps by a lease", backend: "redis", has: func(t scenarios.Scenario) bool {
		return contended(t) && hit(t, func(f scenarios.Fault, n float64) bool {
			return f.Fault == "clock" && among(f.Target, onClients...) && (of(t, f.Clock.Step) > 0.7 || of(t, f.Clock.Strobe) > 0.7)
		})
	}},
	{name: "nobody asks for several leases", backend: "redis", has: func(t scenarios.Scenario) bool {
		return ordinary(t) && of(t, t.Think) >= 2 && t.Clients <= 2*t.Keys && of(t, t.Duration) >= 5
	}},
	{name: "a scripted server starts anew", backend: "redis", has: func(t scenarios.Scenario) bool {
		return contended(t) && hit(t, func(f scenarios.Fault, n float64) bool {
			return among(f.Fault, "kill", "crash") && among(f.Target, "a-server", "servers", "reached", "majority", "leader")
		})
	}},
	{name: "few servers are in reach of who asks", backend: "redlock", has: func(t scenarios.Scenario) bool {
		return contended(t) && hit(t, func(f scenarios.Fault, n float64) bool {
			few := f.Fault == "kill" && f.Target == "majority" || f.Target == "client-1" && among("majority", f.From, f.To)
			return few && f.On == "waiting" && n >= 0.7 && of(t, t.Work) < 1.5
		})
	}},
	{name: "most servers are away from a holder that renews and works on", backend: "redlock", has: func(t scenarios.Scenario) bool {
		return contended(t) && t.Renew && of(t, t.Wait) > 2 && hit(t, func(f scenarios.Fault, n float64) bool {
			most := f.Target == "holder" && (f.From == "majority" || f.To == "majority") || f.Target == "majority"
			return most && among(f.Fault, append(away, "kill")...) && f.On != "releasing" && n > 1.1 && of(t, t.Work) > n
		})
	}},
	{name: "names that begin alike", backend: "redis", has: func(t scenarios.Scenario) bool { return t.Clients >= 10 }},
	{name: "who is named as others begin is away beyond its lease", backend: "postgres", has: func(t scenarios.Scenario) bool {
		return contended(t) && t.Clients >= 10 && t.Keys == 1 && hit(t, func(f scenarios.Fault, n float64) bool {
			return f.Fault == "pause" && f.Target == "client-1" && n > 1.05
		})
	}},
	{name: "keys that begin alike, and long holds of them", backend: "etcd", library: "etcd-concurrency@v3.5.13", has: func(t scenarios.Scenario) bool {
		return t.Workload == "own-key" && t.Clients >= 10 && of(t, t.Work) > 0.5
	}},
}
