package clusters

import (
	"fmt"
	"maps"
	"slices"
)

// Settings are values for the ${variables} of a compose file.
type Settings map[string]string

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
