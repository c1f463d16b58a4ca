package runner

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/dlmtest/dlmtest/clusters"
)

// loadProfile reads the servers of a profile from the user's compose file or ours. told
// is what the user must know of the file before anything is started.
func (o Options) loadProfile(ctx context.Context, profile string) (nodes []clusters.NodeSpec, told []string, err error) {
	settings, err := clusters.Fsync(profile, o.Fsync)
	if err != nil {
		return nil, nil, misfit("--fsync: " + err.Error())
	}
	settings = settings.With(clusters.Grants(profile, o.Scenario.Lease.Of(0)))
	if o.Compose == "" {
		nodes, err = embedded(ctx, profile, settings)
		return nodes, nil, err
	}
	project, err := clusters.LoadFile(ctx, o.Compose, profile, o.AllowHost, settings)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrUsage, err)
	}
	for _, r := range project.Reaches {
		told = append(told, "reaches the host, as --allow-host allows: "+r)
	}
	return project.Nodes, append(told, project.Notes...), nil
}

// read holds the profiles of the embedded file that have been read: it takes 30 ms
// each time, and a matrix asks for hundreds of cells whether they apply.
var read sync.Map // profile and settings → []clusters.NodeSpec

// embedded gives a caller nodes of its own, to which it may append.
func embedded(ctx context.Context, profile string, settings clusters.Settings) ([]clusters.NodeSpec, error) {
	key := fmt.Sprint(profile, settings) // a map prints in the order of its keys
	nodes, ok := read.Load(key)
	if !ok {
		project, err := clusters.Load(ctx, clusters.Compose, profile, settings)
		if err != nil {
			return nil, err
		}
		nodes, _ = read.LoadOrStore(key, project.Nodes)
	}
	own := slices.Clone(nodes.([]clusters.NodeSpec))
	for i := range own {
		own[i].CapAdd, own[i].Devices, own[i].SecurityOpt = slices.Clone(own[i].CapAdd), slices.Clone(own[i].Devices), slices.Clone(own[i].SecurityOpt)
	}
	return own, nil
}
