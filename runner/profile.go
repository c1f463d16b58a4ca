package runner

import (
	"context"
	"slices"
	"sync"

	"github.com/dlmtest/dlmtest/clusters"
)

// loadProfile reads the servers of a profile from the user's compose file or ours.
func loadProfile(ctx context.Context, file, profile, fsync string) ([]clusters.NodeSpec, error) {
	settings, err := clusters.Fsync(profile, fsync)
	if err != nil {
		return nil, misfit("--fsync: " + err.Error())
	}
	if file != "" {
		project, err := clusters.LoadFile(ctx, file, profile, settings)
		return project.Nodes, err
	}
	return embedded(ctx, profile, fsync, settings)
}

// read holds the profiles of the embedded file that have been read: it takes 30 ms
// each time, and a matrix asks for hundreds of cells whether they apply.
var read sync.Map // [2]string{profile, fsync} → []clusters.NodeSpec

// embedded gives a caller nodes of its own, to which it may append.
func embedded(ctx context.Context, profile, fsync string, settings clusters.Settings) ([]clusters.NodeSpec, error) {
	key := [2]string{profile, fsync}
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
