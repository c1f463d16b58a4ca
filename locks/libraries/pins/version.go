package pins

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/internal/gobuild"
	"github.com/dlmtest/dlmtest/locks/protocol/adapter"
)

// ErrNoVersion says that a library has no such version.
var ErrNoVersion = errors.New("there is no such version")

// explain says in plain words that there is no such version, if that is why a build
// failed; else the build's own words stand.
func (p Pin) explain(ctx context.Context, failed error) error {
	if strings.Contains(p.Version, "-") { // a version by its commit is in no list
		return failed
	}
	all, err := gobuild.Versions(ctx, p.From())
	if err != nil || len(all) == 0 || slices.Contains(all, p.Version) {
		return failed
	}
	all = slices.DeleteFunc(all, func(v string) bool { return adapter.Older(v, p.Since) })
	if len(all) == 0 {
		return failed
	}
	near := nearest(p.Version, all)
	return fmt.Errorf("--library %s@%s: %w: %s has no %s. The nearest are %s, the newest is %s. What to do: --library %s@%s; go list -m -versions %s shows all",
		p.Library, p.Version, ErrNoVersion, p.From(), p.Version, strings.Join(near, ", "), all[len(all)-1], p.Library, near[len(near)-1], p.From())
}

// nearest are at most two versions below v and two above it, of a list from the oldest on.
func nearest(v string, all []string) []string {
	at := slices.IndexFunc(all, func(o string) bool { return adapter.Older(v, o) })
	if at < 0 {
		at = len(all)
	}
	return all[max(0, at-2):min(len(all), at+2)]
}
