package libraries

import (
	"fmt"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
)

// python is Debian's own, which knows Debian's packages, whatever else is first in PATH.
const python = "/usr/bin/python3"

// Images of the clients whose libraries come with Debian.
const (
	pythonImage = "dlmtest/client-python:latest"
	javaImage   = "dlmtest/client-java:latest"
)

var redisPy = Library{
	Image: pythonImage, Package: "python3-redis", Tells: []string{python, "-c", "from redis import __version__ as v; print(v)"},
	About: "redis-py's Lock (SET NX PX by a random token, release and extend by Lua): acquire polls every 100 ms; it tells no validity, and its token fences nothing",
	On: []locks.Lock{{Open: script("redis_py.py", []string{python}), CheckLease: wholeMillis, Promise: history.Promise{
		Backend: "redis", Leased: true, Extends: true, Tries: true, Validity: history.Reckoned,
	}}},
}

var kazooLock = Library{
	Image: pythonImage, Package: "python3-kazoo", Tells: []string{python, "-c", "from kazoo.version import __version__ as v; print(v)"},
	About: "kazoo's Lock on a KazooClient whose session timeout is the lease, with a listener for suspended, connected and lost; it tells no validity and no token",
	On: []locks.Lock{{Open: script("kazoo_lock.py", []string{python}), CheckLease: wholeMillis, Renews: true, Promise: history.Promise{
		Backend: "zookeeper", Leased: true, Session: true, Tries: true, Validity: history.Untold,
	}}},
}

var pythonEtcd3 = Library{
	Image: pythonImage, Package: "python3-etcd3", Tells: []string{python, "-c", "from etcd3 import __version__ as v; print(v)"},
	About: "python-etcd3's Lock (a key with a lease, compared and put in one transaction; a waiter watches the key): it tells no validity, and its uuid fences nothing",
	On: []locks.Lock{{Open: script("python_etcd3.py", []string{python}), CheckLease: etcdSeconds, Promise: history.Promise{
		Backend: "etcd", Leased: true, Extends: true, Tries: true, Validity: history.Reckoned,
	}}},
}

// java compiles the one file when it starts it, which takes a second; what it is not asked to
// optimize, it starts the faster.
var java = []string{"java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx96m",
	"-cp", "/usr/share/java/curator-recipes.jar:/usr/share/java/slf4j-simple.jar"}

// curator is one of Curator's locks. All tell no validity and no token.
func curator(kind string) Library {
	what := map[string]string{"mutex": "InterProcessMutex", "rw": "InterProcessReadWriteLock",
		"downgrade": "InterProcessReadWriteLock, whose readers come in as writers if they can, and are downgraded", "semaphore": "InterProcessSemaphoreV2"}[kind]
	return Library{
		Image: javaImage, Package: "libcurator-recipes-java", Tells: []string{"bash", "-c", `basename -s .jar "$(readlink -e /usr/share/java/curator-recipes.jar)"`},
		About: "Apache Curator's " + what + ", with a ConnectionStateListener for suspended, reconnected and lost; the session timeout is the lease, and it tells no validity and no token",
		On: []locks.Lock{{Open: script("Curator.java", java, kind), CheckLease: wholeMillis, Renews: true, Promise: history.Promise{
			Backend: "zookeeper", Leased: true, Session: true, Tries: true, Order: kind != "semaphore", Shared: kind == "rw" || kind == "downgrade", Permits: kind == "semaphore", Validity: history.Untold,
		}}},
	}
}

// etcdSeconds refuses a lease that etcd would round.
func etcdSeconds(lease time.Duration) error {
	if lease < 2*time.Second || lease%time.Second != 0 {
		return fmt.Errorf("%w: etcd grants whole seconds from 2 on, not %v", locks.ErrConfig, lease)
	}
	return nil
}
