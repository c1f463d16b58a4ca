package seal

// Ids of those in a container that are dlmtest's own business: no image has entries for
// the first. Adapters are nobody, for whom it has one: some programs look up their name.
const (
	WorkerID  = 64001
	AdapterID = 65534
)

// Server are the orders for what a node serves, or asks: a server, its health check.
func Server(way Way, uid, gid int) Orders {
	o := Orders{Way: way, UID: uid, GID: gid}
	if way == Users && uid == 0 {
		o.Keep = ForRoot
	}
	if way == Namespaces {
		o.Limits = Limits{Data: 2 * ServerMemory, File: NodeDisk, Processes: ServerProcesses}
	}
	return o
}

// Worker are the orders for a lock client. starts: its lock is behind an adapter, which it
// starts; it is dlmtest's own code then, and nothing else.
func Worker(way Way, uid, gid int, starts bool) Orders {
	o := Orders{Way: way, UID: uid, GID: gid, Starts: starts}
	if way == Users && starts && uid != 0 {
		o.Keep = ForAdapters
	}
	if way == Namespaces {
		o.Counted, o.Limits = true, Limits{Data: 2 * ClientMemory, File: 1 << 30, Processes: ClientProcesses}
	}
	return o
}

// Adapter are the orders for the program behind the lock client protocol, in a node whose
// worker was told way. It leaves the worker some processes to end it with.
func Adapter(way Way, uid int) Orders {
	o := Orders{Way: way, UID: uid, GID: uid, Dies: true}
	if way == Namespaces {
		o.Reaper, o.Counted = true, true
		o.Limits = Limits{Data: 2 * ClientMemory, File: 1 << 30, Processes: ClientProcesses * 3 / 4}
	}
	return o
}

// What a node may use with all that it starts, where no container limits it: many times what
// servers and clients were seen to need, and far less than harms a machine. A process may
// reserve twice as much as the whole node may use.
const (
	ClientMemory    = 1 << 30
	ServerMemory    = 2 << 30
	ClientProcesses = 1024 // and threads
	ServerProcesses = 4096
	NodeDisk        = 4 << 30
)
