package engine

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/pkg/stdcopy"
)

// What is asked about containers.

// Containers lists those with a label, stopped ones too.
func (c *Client) Containers(ctx context.Context, label string) ([]Container, error) {
	return c.api.ContainerList(ctx, container.ListOptions{All: true, Filters: labelled(label)})
}

// createGrace is how long the daemon may take to make what nobody wants any more.
const createGrace = 20 * time.Second

// toItsEnd is for a call that makes something: the daemon goes on with it though its client has gone, so who gave up would
// find nothing to remove, and leave what is made afterwards. The context lives on for a while after ctx has ended.
func toItsEnd(ctx context.Context) (context.Context, context.CancelFunc) {
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(createGrace, func() { cancel(context.Cause(ctx)) }) })
	return own, func() { stop(); cancel(nil) }
}

// CreateContainer returns the new container's ID, also where ctx has ended meanwhile. In host's network it has the aliases.
func (c *Client) CreateContainer(ctx context.Context, name string, config *Config, host *HostConfig, aliases ...string) (id string, err error) {
	var networks *network.NetworkingConfig
	if len(aliases) > 0 {
		networks = &network.NetworkingConfig{EndpointsConfig: map[string]*network.EndpointSettings{string(host.NetworkMode): {Aliases: aliases}}}
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	ctx, done := toItsEnd(ctx)
	defer done()
	made, err := c.api.ContainerCreate(ctx, config, host, networks, nil, name)
	return made.ID, err
}

// Attach gives a container's streams, from its start on.
func (c *Client) Attach(ctx context.Context, id string) (Stream, error) {
	return c.api.ContainerAttach(ctx, id, container.AttachOptions{Stream: true, Stdin: true, Stdout: true, Stderr: true})
}

// StartContainer starts what was created.
func (c *Client) StartContainer(ctx context.Context, id string) error {
	return c.api.ContainerStart(ctx, id, container.StartOptions{})
}

// NextExit tells of a container's end, also of one that is yet to be started.
func (c *Client) NextExit(ctx context.Context, id string) (<-chan Exited, <-chan error) {
	return c.wait(ctx, id, container.WaitConditionNextExit)
}

// Removed tells when a container is no more.
func (c *Client) Removed(ctx context.Context, id string) (<-chan Exited, <-chan error) {
	return c.wait(ctx, id, container.WaitConditionRemoved)
}

// wait takes the answer also where nobody listens any more: until somebody does, the client keeps the connection on which it came.
func (c *Client) wait(ctx context.Context, id string, until container.WaitCondition) (<-chan Exited, <-chan error) {
	came, failed := c.api.ContainerWait(ctx, id, until)
	exited, errs := make(chan Exited, 1), make(chan error, 1)
	go func() {
		select {
		case e := <-came:
			exited <- e
		case err := <-failed:
			errs <- err
		}
	}()
	return exited, errs
}

// RemoveContainer kills it and removes it with its anonymous volumes.
func (c *Client) RemoveContainer(ctx context.Context, id string) error {
	return c.api.ContainerRemove(ctx, id, container.RemoveOptions{Force: true, RemoveVolumes: true})
}

// Logs is what a container has printed; Split parts it.
func (c *Client) Logs(ctx context.Context, id string) (io.ReadCloser, error) {
	return c.api.ContainerLogs(ctx, id, container.LogsOptions{ShowStdout: true, ShowStderr: true})
}

// Split parts what a container prints into its two streams.
func Split(out, errs io.Writer, both io.Reader) error {
	_, err := stdcopy.StdCopy(out, errs, both)
	return err
}

// Commit makes an image of a container, with changes in a Dockerfile's words.
func (c *Client) Commit(ctx context.Context, id, ref string, changes ...string) error {
	_, err := c.api.ContainerCommit(ctx, id, container.CommitOptions{Reference: ref, Changes: changes})
	return err
}

// Stat is what a file of a container that does not run is, and where it leads if it is a link; 0: there is none at that path.
func (c *Client) Stat(ctx context.Context, id, path string) (mode os.FileMode, to string, err error) {
	stat, err := c.api.ContainerStatPath(ctx, id, path)
	if IsNotFound(err) {
		return 0, "", nil
	}
	return stat.Mode, stat.LinkTarget, err
}

// CopyTo unpacks a tar in a folder of a container.
func (c *Client) CopyTo(ctx context.Context, id, folder string, tar io.Reader) error {
	return c.api.CopyToContainer(ctx, id, folder, tar, container.CopyToContainerOptions{})
}
