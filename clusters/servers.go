package clusters

import (
	"slices"

	"github.com/dlmtest/dlmtest/nemesis/agent/links/wire"
)

// server is a kind of node of dlmtest's own compose file: all that is known of it stands in its row
// of servers, beside the service in docker-compose.yml and its image in image/.
type server struct {
	name, about string // of its image
	onDemand    bool   // the image is made when a run wants it, and not with the others, as few runs do

	// profiles of the compose file that consist of such servers, and what these speak to clients.
	profiles []string
	speaks   wire.Protocol
	fsyncs   map[string]Settings // by policy: what makes them write to the disk when
	idle     []string            // of these policies those under which they write nothing at all; "" is their own
	durable  []string            // and those under which what they have answered is on their disks

	// local is what such a node needs on this machine where there is no Docker.
	local localServer
}

// servers is the table of all kinds, in the order in which images are made.
var servers = []server{
	{name: "client", about: "a plain Debian for lock clients"},
	{
		name: "redis", about: "Redis", profiles: []string{"redis", "redlock", "redis-replicated"}, speaks: wire.Redis,
		fsyncs: redisFsyncs, idle: []string{"", "memory"}, durable: []string{"always"},
		local: localServer{programs: []string{"redis-server", "redis-cli"}, packages: "redis-server"},
	}, {
		name: "etcd", about: "etcd and etcdctl", profiles: []string{"etcd", "lockservice"}, speaks: wire.HTTP2,
		fsyncs: etcdFsyncs, durable: []string{"", "always"}, // the data of the lock service lies there
		local: localServer{programs: []string{"etcd", "etcdctl"}, packages: "etcd-server etcd-client"},
	}, {
		name: "zookeeper", about: "ZooKeeper's library and a JVM", profiles: []string{"zookeeper"}, speaks: wire.ZooKeeper,
		fsyncs: zookeeperFsyncs, durable: []string{"", "always"},
		local: localServer{programs: []string{"java", "bash"},
			files:    []string{"/usr/share/java/zookeeper.jar", "/usr/share/java/slf4j-simple.jar"},
			packages: "libzookeeper-java openjdk-17-jre-headless"},
	}, {
		name: "postgres", about: "PostgreSQL 15, with an empty database that trusts everybody",
		profiles: []string{"postgres"}, speaks: wire.Postgres, fsyncs: postgresFsyncs, durable: []string{"", "always"},
		local: localServer{programs: []string{"postgres", "initdb", "psql"}, packages: "postgresql-15"},
	}, {
		name: "client-python", about: "Python with the lock libraries kazoo, redis-py and python-etcd3", onDemand: true,
		local: localServer{programs: []string{"/usr/bin/python3"},
			files: []string{"/usr/lib/python3/dist-packages/kazoo", "/usr/lib/python3/dist-packages/redis",
				"/usr/lib/python3/dist-packages/etcd3"},
			packages: "python3-kazoo python3-redis python3-etcd3"},
	}, {
		name: "client-java", about: "a JDK with the lock library Apache Curator", onDemand: true,
		local: localServer{programs: []string{"java", "javac"}, files: []string{"/usr/share/java/curator-recipes.jar"},
			packages: "libcurator-recipes-java libslf4j-java openjdk-17-jdk-headless"},
	},
}

// serverOf is the row of the servers of a profile.
func serverOf(profile string) server {
	return row(func(s server) bool { return slices.Contains(s.profiles, profile) })
}

// imageOf is the row of an image.
func imageOf(name string) server { return row(func(s server) bool { return s.name == name }) }

func row(is func(server) bool) server {
	if i := slices.IndexFunc(servers, is); i >= 0 {
		return servers[i]
	}
	return server{}
}

// Speaks is what the servers of a profile speak to clients, "" where it is not one of dlmtest's own.
func Speaks(profile string) wire.Protocol { return serverOf(profile).speaks }

// Writes says whether the servers of a profile write anything to their disks under a policy of fsync.
func Writes(profile, fsync string) bool { return !slices.Contains(serverOf(profile).idle, fsync) }

// Durable says whether what the servers of a profile have answered is on their disks under a policy of fsync.
func Durable(profile, fsync string) bool { return slices.Contains(serverOf(profile).durable, fsync) }

// Programs are those that the servers of a profile consist of.
func Programs(profile string) []string { return serverOf(profile).local.programs }

var etcdFsyncs = map[string]Settings{ // without settings: always
	"always": {"DLMTEST_ETCD_UNSAFE_NO_FSYNC": "false"},
	"none":   {"DLMTEST_ETCD_UNSAFE_NO_FSYNC": "true"},
}

var redisFsyncs = map[string]Settings{ // without settings: memory
	"memory": {"DLMTEST_REDIS_APPENDONLY": "no", "DLMTEST_REDIS_APPENDFSYNC": "everysec"}, // nothing is written at all
	"none":   {"DLMTEST_REDIS_APPENDONLY": "yes", "DLMTEST_REDIS_APPENDFSYNC": "no"},
	// Written within 2 s: an fsync that is under way delays the next by one more.
	"everysec": {"DLMTEST_REDIS_APPENDONLY": "yes", "DLMTEST_REDIS_APPENDFSYNC": "everysec"},
	"always":   {"DLMTEST_REDIS_APPENDONLY": "yes", "DLMTEST_REDIS_APPENDFSYNC": "always"},
}

var zookeeperFsyncs = map[string]Settings{ // without settings: always
	"always": {"DLMTEST_ZOOKEEPER_FORCESYNC": "yes"},
	"none":   {"DLMTEST_ZOOKEEPER_FORCESYNC": "no"},
}

var postgresFsyncs = map[string]Settings{ // without settings: always
	"always": {"DLMTEST_POSTGRES_FSYNC": "on", "DLMTEST_POSTGRES_SYNCHRONOUS_COMMIT": "on"},
	// A commit is answered first and written within 3 × wal_writer_delay, 600 ms.
	"async": {"DLMTEST_POSTGRES_FSYNC": "on", "DLMTEST_POSTGRES_SYNCHRONOUS_COMMIT": "off"},
	"none":  {"DLMTEST_POSTGRES_FSYNC": "off", "DLMTEST_POSTGRES_SYNCHRONOUS_COMMIT": "on"},
}
