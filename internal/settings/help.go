package settings

// help is the line of each setting in --help and in the schema of scenarios, by its flag.
var help = map[string]string{
	"library": "lock library under test by NAME or NAME@VERSION (default: the lock of the backend)",
	"adapter": "your own lock client: the command of an adapter that speaks the lock " +
		"client protocol, run in each client node",
	"adapter-files": "folder that client nodes see at /adapter, read-only",
	"client-image":  "Docker image of the client nodes, with what the adapter needs (default: a plain Debian)",
	"self-fence":    "what a client checks before it writes: none, check-deadline, check-session",
	"resource":      "guarded resource: store (built in) or postgres",
	"fencing":       "when the fenced copy accepts a token: at-least (not below the highest) or strict (above it)",
	"fence-on":      "what registers a token: write, or read (reads and writes)",
	"idle-timeout":  "PostgreSQL's idle_in_transaction_session_timeout: off, lease, or a duration",
	"fsync":         "when the servers make data durable: memory, everysec, always, async or none, as the backend has them",
	"wait":          "redis-replicated: replicas that must acknowledge a grant (WAIT)",
	"etcd":          "version of etcd to build from its Go module, such as 3.6 (default: Debian's)",
	"until": "when the load ends: time (as the scenario says), or decided (once all " +
		"that the scenario expects has been seen)",
	"strict":      "count overlaps in which the stale holder did nothing",
	"free-within": "how long a key may stay free while somebody waits for it (free-lock): off, lease, or a duration",
	"oracle": "what Porcupine is asked: windows (the smallest history of each " +
		"violation), full (whole histories too), off",
	"endpoint": "host:port or URL of your own lock service, with --backend http or grpc; once for each of its nodes; " +
		"its bearer token is in $DLMTEST_BEARER",
	"compose": "your own compose file with the backend's profile, for your versions and configuration",
	"allow-host": "let the compose file reach this machine: bind mounts, devices, " +
		"privileges; what does is listed before the start",
	"runtime": "where nodes run: docker, local (namespaces, no Docker and no root), or " +
		"auto: docker where a daemon answers",
}
