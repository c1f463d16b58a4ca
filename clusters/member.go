package clusters

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/clusters/engine"
	"github.com/dlmtest/dlmtest/nemesis/agent/seal"
)

// member is a node that is a container.
type member struct {
	Node
	id     string
	name   string
	exited chan Exit
}

// create makes the container; it does not run yet.
func (d *deployment) create(ctx context.Context, m *member, volume string) error {
	m.name = d.network + "-" + m.Spec.Name
	labels := d.labels(d.run)
	labels[labelNode] = m.Spec.Name
	id, err := d.api.CreateContainer(ctx, m.name, config(m.Spec, labels), d.host(m.Spec, volume), m.Spec.Name)
	if err != nil {
		return fmt.Errorf("create node %s: %w", m.Spec.Name, err)
	}
	m.id = id
	return d.placed(ctx, m)
}

// placed looks where the links of an image, or of what is bound into it, lead the node's mounts:
// never over the agent, which has more rights than what it starts.
func (d *deployment) placed(ctx context.Context, m *member) error {
	ours := slices.ContainsFunc(Images(), func(i Image) bool { return i.Tag == m.Spec.Image })
	if !ours {
		if err := d.inPlace(ctx, m.id); err != nil {
			return fmt.Errorf("create node %s: %w", m.Spec.Name, err)
		}
	}
	targets := slices.Clone(m.Spec.Declared)
	for _, mount := range m.Spec.Mounts {
		targets = append(targets, mount.Target)
	}
	if m.Spec.Guest {
		targets = slices.AppendSeq(targets, maps.Keys(emptyFolders(GuestShares)))
	}
	for _, target := range targets {
		inner := slices.ContainsFunc(targets, func(outer string) bool { return strings.HasPrefix(target, strings.TrimSuffix(outer, "/")+"/") })
		if ours && !inner {
			continue // our images have no such link, and the daemon takes its time to look
		}
		real, err := d.leads(ctx, m.id, target)
		if err == nil && seal.Kept(real) {
			err = fmt.Errorf("it leads to %s, by which a node is started", real)
		}
		if err != nil {
			return fmt.Errorf("create node %s: the mount at %s: %w", m.Spec.Name, target, err)
		}
	}
	return nil
}

// config makes the agent the first process, as root and whatever the image says:
// it starts the child as the image's user.
func config(s NodeSpec, labels map[string]string) *engine.Config {
	return &engine.Config{
		Hostname: s.Name, Image: s.Image, Labels: labels,
		Entrypoint: []string{agentPath, "agent"}, User: "0", WorkingDir: "/",
		Env:          agentEnv(s.Env),
		Healthcheck:  &engine.HealthConfig{Test: []string{"NONE"}},
		AttachStdin:  true,
		AttachStdout: true,
		AttachStderr: true,
		OpenStdin:    true,
		StdinOnce:    true, // when the runner is gone, the agent reads EOF
	}
}

// agentEnv keeps what an image says of the environment from the agent, which runs before anything is sealed: it is the
// child's. A name without a value is one that Docker leaves out.
func agentEnv(child []string) []string {
	env := []string{usualPath, seal.Variable + "=" + string(seal.Users)} // with a path: an exec in the container has the same variables
	for _, v := range child {
		if name, _, _ := strings.Cut(v, "="); name != "" && name != seal.Variable && name != "PATH" {
			env = append(env, name)
		}
	}
	return env
}

func (d *deployment) host(s NodeSpec, volume string) *engine.HostConfig {
	h := &engine.HostConfig{
		NetworkMode: engine.NetworkMode(d.network),
		AutoRemove:  true,
		LogConfig:   engine.LogConfig{Type: "none"},
		SecurityOpt: s.SecurityOpt,
		ExtraHosts:  s.Hosts,
		Mounts:      []engine.Mount{agentMount(volume)},
	}
	h.Mounts[0].ReadOnly = true
	for _, path := range s.Devices {
		h.Devices = append(h.Devices, engine.DeviceMapping{PathOnHost: path, PathInContainer: path, CgroupPermissions: "rwm"})
	}
	for _, m := range s.Mounts {
		h.Mounts = append(h.Mounts, d.mount(m))
	}
	s.Limits.apply(h)
	confine(h, s)
	if !d.open {
		h.DNS = []string{deafServer}
	}
	return h
}

func (d *deployment) mount(m Mount) engine.Mount {
	out := engine.Mount{Type: engine.MountType(m.Type), Source: m.Source, Target: m.Target, ReadOnly: m.ReadOnly}
	switch out.Type {
	case engine.Volumes:
		if m.Source != "" {
			out.Source = d.network + "-" + m.Source
		}
		out.VolumeOptions = &engine.VolumeOptions{Labels: d.labels(d.run), NoCopy: m.NoCopy}
	case engine.Tmpfs:
		out.TmpfsOptions = &engine.TmpfsOptions{SizeBytes: cmp.Or(m.Size, UsualTmpfs), Mode: os.FileMode(m.Mode)}
	}
	return out
}

// start attaches and registers its wait first: AutoRemove takes the output and
// the exit code of a container with it.
func (d *deployment) start(ctx context.Context, m *member) error {
	pipe, err := d.api.Attach(ctx, m.id)
	if err != nil {
		return fmt.Errorf("attach to node %s: %w", m.Spec.Name, err)
	}
	copied, stderr := m.connect(pipe)
	codes, errs := d.api.NextExit(context.WithoutCancel(ctx), m.id)
	m.exited = make(chan Exit, 1)
	m.Exited = m.exited
	go m.await(codes, errs, copied, stderr)
	if err := d.api.StartContainer(ctx, m.id); err != nil {
		pipe.Close()
		return fmt.Errorf("start node %s: %w", m.Spec.Name, err)
	}
	return nil
}

// connect parts the one stream into the agent's pipes.
func (m *member) connect(pipe engine.Stream) (copied chan struct{}, stderr *tail) {
	out, w := io.Pipe()
	stderr = newTail()
	copied = make(chan struct{})
	m.Stdin, m.Stdout, m.Stderr = stdin{pipe}, out, stderr
	go func() {
		err := engine.Split(w, stderr, pipe.Reader)
		w.CloseWithError(err)
		_ = stderr.Close()
		pipe.Close()
		close(copied)
	}()
	return copied, stderr
}

// await delivers the end of the node, after its last words.
func (m *member) await(codes <-chan engine.Exited, errs <-chan error, copied chan struct{}, stderr *tail) {
	e := Exit{Node: m.Spec.Name}
	select {
	case r := <-codes:
		e.Code = int(r.StatusCode)
	case e.Err = <-errs:
	}
	select {
	case <-copied:
	case <-time.After(time.Second): // its stdout is not being read
	}
	e.Stderr = stderr.lines()
	m.exited <- e
	close(m.exited)
}

// remove kills at once. A container that is already on its way out counts.
func (d *deployment) remove(ctx context.Context, m *member) error {
	if m.name == "" {
		return nil
	}
	err := d.removeContainer(ctx, m.name)
	if m.Stdin != nil {
		_ = m.Stdin.Close()
	}
	return err
}

func (d *Docker) removeContainer(ctx context.Context, id string) error {
	gone, errs := d.api.Removed(ctx, id)
	err := d.api.RemoveContainer(ctx, id)
	switch {
	case err == nil || engine.IsNotFound(err):
		return nil
	case !engine.IsConflict(err):
		return fmt.Errorf("remove container %s: %w", id, err)
	}
	select { // AutoRemove was faster
	case <-gone:
		return nil
	case err = <-errs:
		if engine.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("remove container %s: %w", id, err)
	}
}

// stdin closes only its own direction, so that the last output still arrives.
type stdin struct{ pipe engine.Stream }

func (s stdin) Write(p []byte) (int, error) { return s.pipe.Conn.Write(p) }
func (s stdin) Close() error                { return s.pipe.CloseWrite() }
