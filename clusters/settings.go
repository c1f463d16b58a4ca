package clusters

import (
	"fmt"
	"maps"
	"slices"
)

// Settings are values for the ${variables} of a compose file.
type Settings map[string]string

// fsyncs says, per profile, what makes its servers write to the disk when. What
// the file does without settings stands beside it.
var fsyncs = map[string]map[string]Settings{
	"redis":            redisFsyncs,
	"redis-replicated": redisFsyncs,
	"redlock":          redisFsyncs,
	"etcd":             etcdFsyncs,
	"lockservice":      etcdFsyncs, // its data lies there
	"zookeeper": { // without settings: always
		"always": {"DLMTEST_ZOOKEEPER_FORCESYNC": "yes"},
		"none":   {"DLMTEST_ZOOKEEPER_FORCESYNC": "no"},
	},
	"postgres": { // without settings: always
		"always": {"DLMTEST_POSTGRES_FSYNC": "on", "DLMTEST_POSTGRES_SYNCHRONOUS_COMMIT": "on"},
		// A commit is answered first and written within 3 × wal_writer_delay, 600 ms.
		"async": {"DLMTEST_POSTGRES_FSYNC": "on", "DLMTEST_POSTGRES_SYNCHRONOUS_COMMIT": "off"},
		"none":  {"DLMTEST_POSTGRES_FSYNC": "off", "DLMTEST_POSTGRES_SYNCHRONOUS_COMMIT": "on"},
	},
}

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

// Fsync returns the settings that make the servers of a profile of dlmtest's own
// compose file call fsync by a policy: memory, none, everysec, async or always.
// Not all have all of them; "" is what the file does without settings.
func Fsync(profile, policy string) (Settings, error) {
	have := fsyncs[profile]
	if s, ok := have[policy]; ok || policy == "" {
		return s, nil
	}
	return nil, fmt.Errorf("%s has no fsync policy %q; it has %s", profile, policy,
		orNone(slices.Sorted(maps.Keys(have))))
}
