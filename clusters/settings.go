package clusters

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// Settings are values for the ${variables} of a compose file.
type Settings map[string]string

// With is s and other, which wins.
func (s Settings) With(other Settings) Settings {
	all := Settings{}
	maps.Copy(all, s)
	maps.Copy(all, other)
	return all
}

// Fsync returns the settings that make the servers of a profile of dlmtest's own
// compose file call fsync by a policy: memory, none, everysec, async or always.
// Not all have all of them; "" is what the file does without settings.
func Fsync(profile, policy string) (Settings, error) {
	have := serverOf(profile).fsyncs
	if s, ok := have[policy]; ok || policy == "" {
		return s, nil
	}
	return nil, fmt.Errorf("%s has no fsync policy %q; it has %s", profile, policy,
		orNone(slices.Sorted(maps.Keys(have))))
}

// Grants returns the settings without which the servers of a profile of dlmtest's own compose file would grant a longer
// lease than this one. etcd grants none shorter than one and a half election timeouts, in whole seconds: 2 s as it comes.
func Grants(profile string, lease time.Duration) Settings {
	if profile != "etcd" || lease <= 0 || lease >= 2*time.Second {
		return nil
	}
	return Settings{"DLMTEST_ETCD_ELECTION": "600"}
}
