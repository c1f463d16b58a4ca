package runner

import (
	"path/filepath"
	"slices"

	"github.com/dlmtest/dlmtest/internal/secret"
	"github.com/dlmtest/dlmtest/internal/settings"
)

// Settle decides the settings of a run whose scenario was read from a file: what was given
// lies over what the scenario names, and that over the defaults. The scenario then has no
// settings of its own. What it names beside what is built in must be given as well, or be
// trusted, as that of a run's folder; a line for each that is used because of trust.
func (o *Options) Settle(file string, g Given) (trusted []string, err error) {
	from := o.Scenario.Settings
	o.Scenario.Settings = settings.Settings{}
	if g.otherLock(from) {
		from.Library, from.Adapter, from.Files, from.Image = "", nil, "", ""
	}
	var open []Named
	for _, n := range named(from, g.Settings, filepath.Dir(file), func(f settings.Field) string { return "settings." + f.YAML }) {
		switch {
		case n.same || n.other: // what was given is what is used
		case n.refusal != "" || !g.Trust:
			open = append(open, n)
		default:
			trusted = append(trusted, n.String())
		}
	}
	if len(open) > 0 {
		return nil, untrusted(file, open)
	}
	o.Settings = g.Over(from.Over(settings.Default()))
	for _, flag := range g.Unset {
		settings.Of(flag).Copy(&o.Settings, settings.Settings{})
	}
	o.Withhold = len(o.Endpoints) > 0 && len(g.Endpoints) == 0
	return trusted, nil
}

// otherLock says that another lock was given than the one that a file names. What belongs
// to that one, such as its adapter's files, is then of no use.
func (g Given) otherLock(from settings.Settings) bool {
	switch {
	case len(g.Adapter) > 0:
		return !slices.Equal(secret.Words(g.Adapter), from.Adapter)
	case g.Library != "":
		return g.Library != from.Library
	}
	return slices.Contains(g.Unset, "library") // the reference lock
}
