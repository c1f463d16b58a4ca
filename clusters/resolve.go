package clusters

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/clusters/engine"
)

const usualPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// resolve adds to each spec what its image says, as Docker would: so a foreign
// image's own entrypoint becomes part of the child's argv.
func (d *Docker) resolve(ctx context.Context, specs []NodeSpec) ([]NodeSpec, error) {
	known := map[string]*engine.ImageConfig{}
	out := slices.Clone(specs)
	for i := range out {
		ref := reference(out[i].Image)
		if known[ref] == nil {
			found, err := d.api.Image(ctx, ref)
			if engine.IsNotFound(err) {
				return nil, fmt.Errorf("image %s is missing; run dlmtest images build", out[i].Image)
			}
			if err != nil {
				return nil, fmt.Errorf("image %s: %w", out[i].Image, err)
			}
			known[ref] = found.Config
		}
		out[i].Image = ref
		merge(&out[i], known[ref])
		if !out[i].Guest {
			continue
		}
		asGuest(&out[i])
		if err := ownVolumes(&out[i], known[ref]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// merge fills in what the spec leaves open. An entrypoint of its own drops the
// image's command too.
func merge(s *NodeSpec, image *engine.ImageConfig) {
	if image == nil {
		image = &engine.ImageConfig{}
	}
	if len(s.Entrypoint) == 0 {
		s.Entrypoint = image.Entrypoint
		if len(s.Command) == 0 {
			s.Command = image.Cmd
		}
	}
	if s.User == "" {
		s.User = image.User
	}
	if s.WorkDir == "" {
		s.WorkDir = image.WorkingDir
	}
	s.Declared = slices.Sorted(maps.Keys(image.Volumes))
	s.Env = mergeEnv([]string{usualPath, "HOSTNAME=" + s.Name}, image.Env, s.Env)
}

// mergeEnv lets the later lists win.
func mergeEnv(lists ...[]string) []string {
	var env []string
	for _, v := range slices.Concat(lists...) {
		key, _, _ := strings.Cut(v, "=")
		env = slices.DeleteFunc(env, func(old string) bool { return strings.HasPrefix(old, key+"=") })
		env = append(env, v)
	}
	return env
}
