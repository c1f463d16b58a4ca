package clusters

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dlmtest/dlmtest/clusters/engine"
)

// idleAfter is how old a leftover must be whose owner nobody here can judge.
const idleAfter = 10 * time.Minute

// leftover is something in Docker with an owner label.
type leftover struct {
	what   string
	run    string
	owner  string
	idle   bool // it does not run and is old
	remove func(context.Context) error
}

// Sweep removes what dead owners left and names it. It never touches a living
// owner's; of an owner it cannot judge, only what has long been idle.
func (d *Docker) Sweep(ctx context.Context) ([]string, error) {
	return d.sweep(ctx, func(l leftover) bool {
		o, err := ParseOwner(l.owner)
		if err != nil {
			return l.idle
		}
		life := o.life(d.local())
		return life == dead || life == unknown && l.idle
	})
}

// sweep removes containers first: they hold networks and volumes.
func (d *Docker) sweep(ctx context.Context, doomed func(leftover) bool) ([]string, error) {
	var removed []string
	var errs []error
	for _, list := range []func(context.Context) ([]leftover, error){d.containers, d.networks, d.volumes} {
		found, err := list(ctx)
		if err != nil {
			return removed, errors.Join(append(errs, err)...)
		}
		var gone []leftover
		for _, l := range found {
			if doomed(l) {
				gone = append(gone, l)
				removed = append(removed, l.what)
			}
		}
		errs = append(errs, parallel(len(gone), func(i int) error { return gone[i].remove(ctx) }))
	}
	return removed, errors.Join(errs...)
}

func (d *Docker) containers(ctx context.Context) ([]leftover, error) {
	list, err := d.api.Containers(ctx, labelOwner)
	if err != nil {
		return nil, fmt.Errorf("list containers: %w", err)
	}
	var found []leftover
	for _, c := range list {
		found = append(found, leftover{
			what:   "container " + c.Labels[labelRun] + "/" + c.Labels[labelNode],
			run:    c.Labels[labelRun],
			owner:  c.Labels[labelOwner],
			idle:   c.State != engine.Running && time.Since(time.Unix(c.Created, 0)) > idleAfter,
			remove: func(ctx context.Context) error { return d.removeContainer(ctx, c.ID) },
		})
	}
	return found, nil
}

func (d *Docker) networks(ctx context.Context) ([]leftover, error) {
	list, err := d.api.Networks(ctx, labelOwner)
	if err != nil {
		return nil, fmt.Errorf("list networks: %w", err)
	}
	var found []leftover
	for _, n := range list {
		found = append(found, leftover{
			what:   "network " + n.Name,
			run:    n.Labels[labelRun],
			owner:  n.Labels[labelOwner],
			idle:   d.unused(ctx, n),
			remove: func(ctx context.Context) error { return d.removeNetwork(ctx, n.ID, 1) }, // no start waits for one that is stuck
		})
	}
	return found, nil
}

// unused asks again, for a list does not say what is connected.
func (d *Docker) unused(ctx context.Context, n engine.Network) bool {
	if time.Since(n.Created) < idleAfter {
		return false
	}
	full, err := d.api.Network(ctx, n.ID)
	return err == nil && len(full.Containers) == 0
}

func (d *Docker) volumes(ctx context.Context) ([]leftover, error) {
	list, err := d.api.Volumes(ctx, labelOwner)
	if err != nil {
		return nil, fmt.Errorf("list volumes: %w", err)
	}
	var found []leftover
	for _, v := range list {
		found = append(found, leftover{
			what:   "volume " + v.Name,
			run:    v.Labels[labelRun],
			owner:  v.Labels[labelOwner],
			remove: func(ctx context.Context) error { return d.removeVolume(ctx, v.Name) },
		})
	}
	return found, nil
}

func (d *Docker) removeVolume(ctx context.Context, name string) error {
	err := d.api.RemoveVolume(ctx, name)
	if err == nil || engine.IsNotFound(err) {
		return nil
	}
	return fmt.Errorf("remove volume %s: %w; remove it with docker volume rm", name, err)
}
