package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/dlmtest/dlmtest/clusters"
	"github.com/dlmtest/dlmtest/locks/libraries"
	"github.com/dlmtest/dlmtest/locks/libraries/pins"
)

// putPin builds the adapter of a pinned library, if one is under test, and gives it to
// every client node.
func (p *plan) putPin(ctx context.Context, specs []clusters.NodeSpec, say Progress) error {
	pin, ok, err := libraries.Pin(p.Library)
	if !ok || err != nil {
		return err
	}
	folder, err := pin.Build(ctx, say.Line)
	if errors.Is(err, pins.ErrNoVersion) {
		return fmt.Errorf("%w: %w", ErrUsage, err)
	}
	if err != nil {
		return err
	}
	for i := range specs {
		if s := &specs[i]; s.Role == "client" {
			s.Mounts = append(slices.Clone(s.Mounts), clusters.Mount{Type: "bind", Source: folder, Target: pins.Folder, ReadOnly: true})
		}
	}
	return nil
}
