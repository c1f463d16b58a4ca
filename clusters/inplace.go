package clusters

import (
	"context"
	"errors"
	"fmt"

	"github.com/dlmtest/dlmtest/nemesis/agent/seal"
)

// inPlace refuses an image in which what a node is started and sealed by lies elsewhere, or its list of users is no file:
// Docker reads that before anything runs, and waits for a pipe for ever.
func (d *Docker) inPlace(ctx context.Context, id string) error {
	for _, folder := range seal.Folders() {
		if real, err := d.leads(ctx, id, folder); err != nil {
			return err
		} else if real != folder {
			return fmt.Errorf("its image has a link at %s, which leads to %s: a node is started by what lies there; make the image without it", folder, real)
		}
	}
	for _, list := range []string{"/etc/passwd", "/etc/group"} {
		real, err := d.leads(ctx, id, list)
		if err != nil {
			return err
		}
		mode, _, err := d.api.Stat(ctx, id, real)
		if err != nil {
			return err
		}
		if mode != 0 && !mode.IsRegular() || seal.Kept(real) {
			return fmt.Errorf("its image has no file at %s, but %v at %s: users are looked up there; make the image with a file, or none", list, mode, real)
		}
	}
	return nil
}

// leads says where the links of an image, and of what is bound into it, lead a path of a container.
func (d *Docker) leads(ctx context.Context, id, target string) (string, error) {
	var failed error
	real, err := seal.Follow(target, func(path string) (string, bool) {
		_, to, err := d.api.Stat(ctx, id, path)
		failed = errors.Join(failed, err)
		return to, to != ""
	})
	return real, errors.Join(failed, err)
}
