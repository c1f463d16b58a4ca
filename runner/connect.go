package runner

import (
	"context"
	"errors"
	"fmt"

	"github.com/dlmtest/dlmtest/clusters"
	"github.com/dlmtest/dlmtest/internal/scratch"
)

// place is where nodes run: Docker, or namespaces of this machine.
type place interface {
	clusters.Runtime
	EnsureImages(ctx context.Context, names []string, progress func(line string)) error
}

// connect chooses the runtime, and removes what killed commands have left in TMPDIR. auto
// takes Docker where a daemon answers.
func connect(ctx context.Context, p *plan, specs []clusters.NodeSpec, say Progress) (place, *clusters.Janitor, error) {
	scratch.Sweep()
	if p.Runtime != "local" {
		docker, janitor, err := connectDocker(ctx, p, specs, say)
		if err == nil || p.Runtime == "docker" || !errors.Is(err, clusters.ErrNoDocker) {
			return docker, janitor, err
		}
		say.Line("no Docker daemon answers: the nodes run in namespaces of this machine")
		local, localErr := connectLocal(ctx, p, specs, say)
		if localErr != nil {
			return nil, nil, errors.Join(err, localErr)
		}
		return local, nil, nil
	}
	local, err := connectLocal(ctx, p, specs, say)
	return local, nil, err
}

// connectLocal finds out what nodes can do here, and builds an etcd of another version
// if one is asked for: otherwise the servers are the machine's own.
func connectLocal(ctx context.Context, p *plan, specs []clusters.NodeSpec, say Progress) (place, error) {
	if p.Image != "" {
		return nil, fmt.Errorf("%w: --client-image is for Docker; with the runtime local clients see the programs of this machine", ErrUsage)
	}
	if p.elsewhere() {
		return nil, errNoWayOut
	}
	local, err := clusters.NewLocal(ctx, p.Self)
	if err != nil {
		return nil, err
	}
	if err := local.Runs(p.Adapter, filesAt); err != nil {
		return nil, fmt.Errorf("%w: the adapter: %w", ErrUsage, err)
	}
	if err := p.lacks(local); err != nil || p.Etcd == "" {
		return local, err
	}
	return local, local.PutEtcd(ctx, specs, p.Etcd, say.Line)
}

// connectDocker finds the daemon, has a janitor stand by, removes what dead runs
// have left, and builds an etcd of another version if one is asked for.
func connectDocker(ctx context.Context, p *plan, specs []clusters.NodeSpec, say Progress) (*clusters.Docker, *clusters.Janitor, error) {
	docker, err := clusters.NewDocker(ctx, p.Self)
	if err != nil {
		return nil, nil, err
	}
	if err := p.readable(); err != nil {
		return nil, nil, err
	}
	if docker.Self, err = clusters.Portable(ctx, p.Self, say.Line); err != nil {
		return nil, nil, err
	}
	if docker.Janitor, err = clusters.StartJanitor(p.Self, docker.Owner); err != nil {
		return nil, nil, err
	}
	if _, err := docker.Sweep(ctx); err != nil {
		say.Line("what an earlier run has left could not be removed: " + err.Error()) // no reason not to run
	}
	if p.Etcd == "" || clusters.EtcdOfImage(p.Etcd) {
		return docker, docker.Janitor, nil
	}
	image, err := docker.BuildEtcd(ctx, p.Etcd, say.Line)
	if err != nil {
		return nil, nil, errors.Join(err, docker.Janitor.Done())
	}
	for i := range specs {
		if specs[i].Role == "etcd" {
			specs[i].Image = image
		}
	}
	return docker, docker.Janitor, nil
}

func images(specs []clusters.NodeSpec) []string {
	var names []string
	for _, s := range specs {
		names = append(names, s.Image)
	}
	return names
}
