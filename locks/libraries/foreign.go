package libraries

import (
	"fmt"
	"slices"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
)

// python is Debian's own, which knows Debian's packages, whatever else is first in PATH.
const python = "/usr/bin/python3"

// Images of client nodes with Python and Java and the lock libraries that come with Debian.
const (
	PythonImage = "dlmtest/client-python:latest"
	JavaImage   = "dlmtest/client-java:latest"
)

var redisPy = foreign(foreignLibrary{
	Script: "redis_py.py", Program: []string{python}, Image: PythonImage, Package: "python3-redis",
	Tells: []string{python, "-c", "from redis import __version__ as v; print(v)"}, Backend: "redis", CheckLease: wholeMillis,
	Offers: []string{"try", "extend", "lease", "wait", "sent"},
	About: "redis-py's Lock (SET NX PX by a random token, release and extend by Lua): acquire polls every 100 ms; it " +
		"tells no validity, and its token fences nothing",
})

var pythonEtcd3 = foreign(foreignLibrary{
	Script: "python_etcd3.py", Program: []string{python}, Image: PythonImage, Package: "python3-etcd3",
	Tells: []string{python, "-c", "from etcd3 import __version__ as v; print(v)"}, Backend: "etcd", CheckLease: etcdSeconds,
	Offers: []string{"try", "extend", "lease", "wait", "sent"},
	About: "python-etcd3's Lock (a key with a lease, compared and put in one transaction; a waiter watches the key): " +
		"it tells no validity, and its uuid fences nothing",
})

// kazoo is one of kazoo's locks. All tell no validity and no token.
func kazoo(kind string) Library {
	what := map[string]string{"mutex": "Lock", "rw": "ReadLock and WriteLock"}[kind]
	return foreign(foreignLibrary{
		Script: "kazoo_lock.py", Program: []string{python}, Args: []string{kind}, Image: PythonImage, Package: "python3-kazoo",
		Tells: []string{python, "-c", "from kazoo.version import __version__ as v; print(v)"}, Backend: "zookeeper", CheckLease: wholeMillis,
		Offers: with([]string{"try", "events", "lease", "renews", "wait"}, kind, "rw", "shared"),
		Left: map[string]string{
			"permits": "its Semaphore gives one lease a call, and ours asks for several, all or none",
			"order":   "its waiters stand in a queue of nodes, and its documents promise no order"},
		About: "kazoo's " + what + " on a KazooClient whose session timeout is the lease, with a listener for " +
			"suspended, connected and lost; it tells no validity and no token",
	})
}

// with adds an offer for one kind of lock.
func with(offers []string, kind, of, offer string) []string {
	if kind == of {
		return append(offers, offer)
	}
	return offers
}

// foreignLibrary is a library of another language, which comes with Debian.
type foreignLibrary struct {
	Script         string   // in examples/adapters
	Program, Args  []string // before and after it
	Image, Package string
	Tells          []string // see Library
	Backend        string
	CheckLease     func(time.Duration) error
	Offers         []string          // of its hello
	Left           map[string]string // see Library
	About          string
}

func foreign(f foreignLibrary) Library {
	lock := locks.Lock{Open: checked(script(f.Script, f.Program, f.Args...), "", f.Offers), CheckLease: f.CheckLease,
		Promise: history.Promise{Backend: f.Backend}}
	argv := slices.Concat(f.Program, []string{f.Script}, f.Args)
	return Library{About: f.About, argv: argv, Image: f.Image, Package: f.Package, Tells: f.Tells, Offers: f.Offers,
		Left: f.Left, On: []locks.Lock{promising(lock, f.Offers)}}
}

// wholeMillis refuses a lease that would be rounded.
func wholeMillis(lease time.Duration) error {
	if lease < time.Millisecond || lease%time.Millisecond != 0 {
		return fmt.Errorf("%w: leases are whole milliseconds here; ask for at least 1ms, not %v", locks.ErrConfig, lease)
	}
	return nil
}

// etcdSeconds refuses a lease that etcd would round.
func etcdSeconds(lease time.Duration) error {
	if lease < time.Second || lease%time.Second != 0 {
		return fmt.Errorf("%w: etcd grants whole seconds, not %v", locks.ErrConfig, lease)
	}
	return nil
}
