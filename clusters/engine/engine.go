// Package engine is what dlmtest asks of a container engine, and the one place that knows
// which client library asks it: github.com/docker/docker/client, chosen with dlmtest's first
// design. Its line ends with v28; the same API goes on as github.com/moby/moby/client, whose
// calls take options and give results of their own. Going over means this file, and the three
// modules of types below.
package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/build"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/api/types/system"
	"github.com/docker/docker/api/types/volume"
	"github.com/docker/docker/client"
	"github.com/docker/docker/pkg/stdcopy"
	spec "github.com/moby/docker-image-spec/specs-go/v1"
)

// The API's own types, under one roof.
type (
	Config         = container.Config
	HostConfig     = container.HostConfig
	HealthConfig   = container.HealthConfig
	LogConfig      = container.LogConfig
	NetworkMode    = container.NetworkMode
	DeviceMapping  = container.DeviceMapping
	Resources      = container.Resources
	Ulimit         = container.Ulimit
	Exited         = container.WaitResponse
	Container      = container.Summary
	Mount          = mount.Mount
	MountType      = mount.Type
	VolumeOptions  = mount.VolumeOptions
	TmpfsOptions   = mount.TmpfsOptions
	Network        = network.Inspect
	NetworkOptions = network.CreateOptions
	Image          = image.InspectResponse
	ImageConfig    = spec.DockerOCIImageConfig
	Volume         = volume.Volume
	Stream         = types.HijackedResponse
	Info           = system.Info
	Version        = types.Version
)

// Values of these types.
const (
	Volumes = mount.TypeVolume
	Tmpfs   = mount.TypeTmpfs
	Running = container.StateRunning
)

// ErrNone says that no engine answered.
var ErrNone = errors.New("no Docker daemon answers; install it (apt-get install docker.io), start it (systemctl start docker), " +
	"or point DOCKER_HOST at one; your user must be in the group docker")

// ErrPodman says that it was Podman that answered.
var ErrPodman = errors.New("it is Podman's socket, and Podman is not supported: faults need networks, capabilities and volumes as Docker " +
	"makes them; install Docker, or take the runtime local, which needs neither")

// IsNotFound says that the engine has no such thing.
func IsNotFound(err error) bool { return errdefs.IsNotFound(err) }

// IsConflict says that the thing is in use, or under way to its end already.
func IsConflict(err error) bool { return errdefs.IsConflict(err) }

// Split parts what a container prints into its two streams.
func Split(out, errs io.Writer, both io.Reader) error {
	_, err := stdcopy.StdCopy(out, errs, both)
	return err
}

// Client is a connection to an engine, by the newest version of the API that both know.
type Client struct{ api *client.Client }

// Connect finds the engine that DOCKER_HOST names, by default the one of this machine.
// Without an answer the error matches ErrNone, with Podman's ErrPodman.
func Connect(ctx context.Context) (*Client, error) {
	api, err := client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation())
	if err != nil {
		return nil, fmt.Errorf("docker client: %w", err)
	}
	if _, err := api.Ping(ctx); err != nil {
		err = fmt.Errorf("%w (%s: %w)", ErrNone, api.DaemonHost(), err)
		if socket := podmanSocket(); socket != "" {
			err = fmt.Errorf("%w\nPodman has a socket here, %s: %w", err, socket, ErrPodman)
		}
		return nil, err
	}
	version, err := api.ServerVersion(ctx)
	if err != nil {
		return nil, fmt.Errorf("the Docker daemon at %s: %w", api.DaemonHost(), err)
	}
	for _, part := range version.Components {
		if strings.HasPrefix(part.Name, "Podman") {
			return nil, fmt.Errorf("%s: %w", api.DaemonHost(), ErrPodman)
		}
	}
	return &Client{api}, nil
}

// podmanSocket is that of this user or of this machine.
func podmanSocket() string {
	for _, dir := range []string{os.Getenv("XDG_RUNTIME_DIR"), "/run"} {
		path := filepath.Join(dir, "podman", "podman.sock")
		if info, err := os.Stat(path); err == nil && info.Mode().Type() == os.ModeSocket {
			return path
		}
	}
	return ""
}

// Host is where the engine listens.
func (c *Client) Host() string { return c.api.DaemonHost() }

// APIVersion is the one that is spoken with it.
func (c *Client) APIVersion() string { return c.api.ClientVersion() }

// Version is the engine's own.
func (c *Client) Version(ctx context.Context) (Version, error) { return c.api.ServerVersion(ctx) }

// Info is what the engine and its machine can do.
func (c *Client) Info(ctx context.Context) (Info, error) { return c.api.Info(ctx) }

func labelled(label string) filters.Args { return filters.NewArgs(filters.Arg("label", label)) }

// Containers lists those with a label, stopped ones too.
func (c *Client) Containers(ctx context.Context, label string) ([]Container, error) {
	return c.api.ContainerList(ctx, container.ListOptions{All: true, Filters: labelled(label)})
}

// CreateContainer returns the new container's ID. In host's network it has the aliases.
func (c *Client) CreateContainer(ctx context.Context, name string, config *Config, host *HostConfig, aliases ...string) (id string, err error) {
	var networks *network.NetworkingConfig
	if len(aliases) > 0 {
		networks = &network.NetworkingConfig{EndpointsConfig: map[string]*network.EndpointSettings{string(host.NetworkMode): {Aliases: aliases}}}
	}
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

// CreateNetwork makes one by that name.
func (c *Client) CreateNetwork(ctx context.Context, name string, o NetworkOptions) error {
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
