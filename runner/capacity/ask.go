package capacity

import "fmt"

// Ask is how a server is asked for what it tells of itself.
type Ask struct {
	Shell    string   // printed by a shell of the server's node; "": it tells nothing
	Name     string   // of the figure in what is printed
	Own      string   // what that is, in words
	Locks    int      // how many are taken if nobody says
	Sessions int      // how many are opened if nobody says
	Hold     int      // seconds: the lease of locks that are not renewed; 0: that of the sessions
	Env      []string // of the server, beside what the compose file says
	Not      []string // what its figures do not count
	Usual    float64  // bytes: the usual estimate of a lock
	UsualIs  string   // that, in words
	// Most is how many connections its server is told to take at most, where every lock
	// and session is one of its own; 0: they are not.
	Most int
}

// spare connections are those of who asks whether the server is there, and of what the
// worker has open beside its load.
const spare = 20

// Connections is how many its server must take for so many locks and sessions; 0: as many
// as it likes. A lock is one connection, and a session one more, which takes tokens.
func (a Ask) Connections(locks, sessions int) int {
	if a.Most == 0 {
		return 0
	}
	return locks + 2*sessions + spare
}

// Fits says why so many locks and sessions cannot be measured, with what to do, or "".
func (a Ask) Fits(locks, sessions int) string {
	n := a.Connections(locks, sessions)
	if n <= a.Most {
		return ""
	}
	return fmt.Sprintf("%d locks and %d sessions are %d connections with a process of the server each (a lock is one, a "+
		"session two, and %d are spare), and this takes %d at most; take fewer, such as --locks %d --sessions %d: the "+
		"line is extrapolated to a million all the same",
		locks, sessions, n, spare, a.Most, min(locks, a.Most/2), min(sessions, a.Most/4-spare/2))
}

// What a server in Go or Java holds is known only after a collection: its heap is up to
// twice that before. The second one of Go empties what its pools keep.
const (
	liveGo = `live() { exec 3<>/dev/tcp/127.0.0.1/2379 && printf 'GET /debug/pprof/heap?gc=1&debug=1 HTTP/1.0\r\n\r\n' >&3 && cat <&3; }
live >/dev/null && live | awk '/^# (HeapAlloc|Stack) =/ {n += $4} END {print "live", n}'`
	// A JRE has jcmd as a module alone. Both generations of the heap are told in kB.
	liveJava = `java -m jdk.jcmd/sun.tools.jcmd.JCmd $(grep -lx java /proc/[0-9]*/comm | tr -dc 0-9) -f <(printf 'GC.run\nGC.heap_info\n') |
awk '/ generation / {sub(/.*used /, ""); n += $1} END {print "live", n * 1024}'`
)

// Asks are the backends whose capacity can be measured.
var Asks = map[string]Ask{
	"redis": {Shell: "redis-cli INFO memory", Name: "used_memory", Own: "used_memory of INFO", Locks: 50000, Sessions: 500, Hold: 600,
		Usual: 200, UsualIs: "200 bytes a lock",
		Not: []string{"replicas and persistence: one server, nothing on disk",
			"a lock is two keys: its owner, which expires, and its fencing token, which stays"}},
	"etcd": {Shell: liveGo, Name: "live", Own: "live heap and stacks after a garbage collection", Locks: 4000,
		Sessions: 200, Hold: 600, Env: []string{"ETCD_ENABLE_PPROF=true", "ETCD_SNAPSHOT_COUNT=1000"},
		Usual: 200, UsualIs: "200 bytes a lock",
		Not: []string{"the log in memory, which ends at 100,000 requests by default and at 1000 here, so that it does " +
			"not look like locks", "the database file and the log on disk", "each lock has a lease of its own; clients that share one lease need less"}},
	"zookeeper": {Shell: liveJava, Name: "live", Own: "live heap after a garbage collection", Locks: 4000, Sessions: 300, Hold: 60,
		Usual: 500, UsualIs: "500 bytes a znode",
		Not: []string{"snapshots and the log on disk",
			"a lock is two znodes: its folder, which stays, and the ephemeral one",
			"stacks and buffers of Java outside its heap, which the kernel counts with what the heap once had"}},
	"postgres": {Locks: 60, Sessions: 60, Most: 2000,
		Usual: 200, UsualIs: "200 bytes a lock",
		Not: []string{"a lock is a connection with an open transaction, so there are as many as max_connections allows, " +
			"which is raised to what is measured", "shared buffers are counted once",
			"no heartbeat: a row lock has no lease, and TCP keepalives come after two hours"}},
}
