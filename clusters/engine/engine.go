// Package engine is what dlmtest asks of a container engine, and the one place that knows
// which client library asks it: github.com/docker/docker/client, chosen with dlmtest's first
// design. Its line ends with v28; the same API goes on as github.com/moby/moby/client, whose
// calls take options and give results of their own. Going over means this folder, and the
// three modules of types below.
package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/api/types/system"
	"github.com/docker/docker/api/types/volume"
	"github.com/docker/docker/client"
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
