package engine

import (
	"context"
	"io"

	"github.com/docker/docker/api/types/build"
	"github.com/docker/docker/api/types/image"
)

// What containers are made of.

// Image finds one by its name.
func (c *Client) Image(ctx context.Context, ref string) (Image, error) {
	return c.api.ImageInspect(ctx, ref)
}

// BuildImage builds a tar with a Dockerfile; what it says is JSON, a message a line.
func (c *Client) BuildImage(ctx context.Context, tar io.Reader, tags []string, args map[string]*string) (io.ReadCloser, error) {
	answer, err := c.api.ImageBuild(ctx, tar, build.ImageBuildOptions{Version: build.BuilderV1, Tags: tags, BuildArgs: args, Remove: true, ForceRemove: true})
	return answer.Body, err
}

// PullImage says JSON, a message a line, and is over when that ends.
func (c *Client) PullImage(ctx context.Context, ref string) (io.ReadCloser, error) {
	return c.api.ImagePull(ctx, ref, image.PullOptions{})
}

// CanPull asks the registry without pulling.
func (c *Client) CanPull(ctx context.Context, ref string) error {
	_, err := c.api.DistributionInspect(ctx, ref, "")
	return err
}

// ImportImage makes an image of a root file system's tar; it answers as PullImage does.
func (c *Client) ImportImage(ctx context.Context, tar io.Reader, ref string) (io.ReadCloser, error) {
	return c.api.ImageImport(ctx, image.ImportSource{Source: tar, SourceName: "-"}, ref, image.ImportOptions{})
}

// TagImage gives an image one more name.
func (c *Client) TagImage(ctx context.Context, ref, name string) error {
	return c.api.ImageTag(ctx, ref, name)
}

// RemoveImage takes a name away, and the image with its last one.
func (c *Client) RemoveImage(ctx context.Context, ref string) error {
	_, err := c.api.ImageRemove(ctx, ref, image.RemoveOptions{Force: true, PruneChildren: true})
	return err
}
