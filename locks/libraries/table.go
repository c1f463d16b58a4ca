package libraries

// Table holds the libraries under test by name.
var Table = map[string]Library{
	"curator":           curator("mutex"),
	"curator-downgrade": curator("downgrade"),
	"curator-rw":        curator("rw"),
	"curator-semaphore": curator("semaphore"),
	"etcd-concurrency":  etcdConcurrency,
	"go-pglock":         goPglock,
	"go-zookeeper":      goZooKeeper,
	"kazoo":             kazooLock,
	"pglock":            pgLock,
	"python-etcd3":      pythonEtcd3,
	"redis-py":          redisPy,
	"redislock":         redisLock,
	"redsync":           redSync,
	"rueidislock":       rueidisLock,
}
