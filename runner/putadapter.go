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

// putAdapter builds the adapter of a library that is not in this program, if one is under test, and gives it to
// every client node.
func (p *plan) putAdapter(ctx context.Context, specs []clusters.NodeSpec, say Progress) error {
	folder, err := p.buildAdapter(ctx, say)
	if folder == "" || err != nil {
		return err
	}
	for i := range specs {
		if s := &specs[i]; s.Role == "client" {
			s.Mounts = append(slices.Clone(s.Mounts), clusters.Mount{Type: "bind", Source: folder, Target: pins.Folder, ReadOnly: true})
		}
	}
	return nil
}

func (p *plan) buildAdapter(ctx context.Context, say Progress) (folder string, err error) {
	pin, pinned, err := libraries.Pin(p.Library)
	if err != nil {
		return "", err
	}
	if !pinned && p.Runtime != "local" {
		return "", nil // an image may have another version of the library than this machine, and compiles for its own
	}
	if !pinned {
		folder, err = libraries.Compiled(ctx, p.Library)
		if err != nil && ctx.Err() == nil { // the clients' own compiler may be another
			say.Line(fmt.Sprintf("each client compiles the adapter for itself: %v", err))
			err = nil
		}
		return folder, err
	}
	folder, err = pin.Build(ctx, say.Line)
	if errors.Is(err, pins.ErrNoVersion) {
		return "", fmt.Errorf("%w: %w", ErrUsage, err)
	}
	return folder, err
}
