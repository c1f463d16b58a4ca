package engine

import (
	"context"

	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/api/types/volume"
)

// What containers are joined to: networks and volumes.

// CreateNetwork makes one by that name, also where ctx has ended meanwhile.
func (c *Client) CreateNetwork(ctx context.Context, name string, o NetworkOptions) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, done := toItsEnd(ctx)
	defer done()
	_, err := c.api.NetworkCreate(ctx, name, o)
	return err
}

// Networks lists those with a label; without one, all.
func (c *Client) Networks(ctx context.Context, label string) ([]Network, error) {
	var o network.ListOptions
	if label != "" {
		o.Filters = labelled(label)
	}
	return c.api.NetworkList(ctx, o)
}

// Network tells what is connected, too.
func (c *Client) Network(ctx context.Context, id string) (Network, error) {
	return c.api.NetworkInspect(ctx, id, network.InspectOptions{})
}

// RemoveNetwork fails while something is connected.
func (c *Client) RemoveNetwork(ctx context.Context, id string) error {
	return c.api.NetworkRemove(ctx, id)
}

// Volumes lists those with a label.
func (c *Client) Volumes(ctx context.Context, label string) ([]*Volume, error) {
	list, err := c.api.VolumeList(ctx, volume.ListOptions{Filters: labelled(label)})
	return list.Volumes, err
}

// VolumesNamed lists those with a word in their name.
func (c *Client) VolumesNamed(ctx context.Context, word string) ([]*Volume, error) {
	list, err := c.api.VolumeList(ctx, volume.ListOptions{Filters: filters.NewArgs(filters.Arg("name", word))})
	return list.Volumes, err
}

// Volume finds one by its name.
func (c *Client) Volume(ctx context.Context, name string) (Volume, error) {
	return c.api.VolumeInspect(ctx, name)
}

// CreateVolume makes one; one that is there already stays.
func (c *Client) CreateVolume(ctx context.Context, name string, labels map[string]string) error {
	_, err := c.api.VolumeCreate(ctx, volume.CreateOptions{Name: name, Labels: labels})
	return err
}

// RemoveVolume fails while a container has it.
func (c *Client) RemoveVolume(ctx context.Context, name string) error {
	return c.api.VolumeRemove(ctx, name, false)
}
