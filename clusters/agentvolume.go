package clusters

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/clusters/engine"
	locks "github.com/dlmtest/dlmtest/internal/scratch"
	"github.com/dlmtest/dlmtest/nemesis/agent/seal"
)

const (
	agentFolder = seal.Folder
	agentPath   = seal.Binary
	agentPrefix = "dlmtest-agent-"
	// A volume cannot say that its filling was finished, so a second, empty one
	// does: nobody starts a half-copied agent.
	filledSuffix = "-filled"
)

// agentVolume returns the volume that holds this binary, filling it if it is new.
func (d *Docker) agentVolume(ctx context.Context, image string) (string, error) {
	if err := static(d.Self); err != nil {
		return "", err
	}
	sum, err := fileHash(d.Self)
	if err != nil {
		return "", fmt.Errorf("agent binary: %w", err)
	}
	name := agentPrefix + sum[:16]
	if d.filled(ctx, name) {
		return name, nil
	}
	if err := d.fill(ctx, name, image); err != nil {
		return "", err
	}
	d.dropStaleAgents(ctx, name)
	return name, nil
}

// refill guards against another process that took the volume for stale before
// our containers held it.
func (d *Docker) refill(ctx context.Context, name, image string) error {
	if d.filled(ctx, name) {
		return nil
	}
	return d.fill(ctx, name, image)
}

func (d *Docker) filled(ctx context.Context, name string) bool {
	_, err := d.api.Volume(ctx, name+filledSuffix)
	if err != nil {
		return false
	}
	_, err = d.api.Volume(ctx, name)
	return err == nil
}

// fill copies the binary through a container that never runs. One process of
// this machine at a time.
func (d *Docker) fill(ctx context.Context, name, image string) error {
	unlock, err := locks.Lock(ctx, name)
	if err != nil {
		return err
	}
	defer unlock()
	if d.filled(ctx, name) {
		return nil
	}
	id, err := d.api.CreateContainer(ctx, "",
		&engine.Config{Image: image, Entrypoint: []string{agentPath}, Labels: d.labels(Run{ID: "agent"})},
		&engine.HostConfig{Mounts: []engine.Mount{agentMount(name)}})
	if err != nil {
		return fmt.Errorf("agent volume %s: %w", name, err)
	}
	defer func() { _ = d.removeContainer(context.WithoutCancel(ctx), id) }()
	if err := d.inPlace(ctx, id); err != nil {
		return err
	}
	if err := d.copyAgent(ctx, id); err != nil {
		return fmt.Errorf("agent volume %s: %w", name, err)
	}
	return d.api.CreateVolume(ctx, name+filledSuffix, nil)
}

// agentMount is the volume as it lies in every container. It begins empty: Docker would fill it with what an image has
// there, for all later runs, whatever their image.
func agentMount(volume string) engine.Mount {
	return engine.Mount{Type: engine.Volumes, Source: volume, Target: agentFolder, VolumeOptions: &engine.VolumeOptions{NoCopy: true}}
}

// copyAgent streams the binary as the one file of a tar.
func (d *Docker) copyAgent(ctx context.Context, id string) error {
	file, err := os.Open(d.Self)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	r, w := io.Pipe()
	go func() {
		t := tar.NewWriter(w)
		err := t.WriteHeader(&tar.Header{Name: "dlmtest", Mode: 0o755, Size: info.Size(), ModTime: info.ModTime()})
		_, errCopy := io.Copy(t, file)
		w.CloseWithError(errors.Join(err, errCopy, t.Close()))
	}()
	defer func() { _ = r.Close() }()
	return d.api.CopyTo(ctx, id, agentFolder, r)
}

// dropStaleAgents removes the volumes of older binaries. One that is in use
// refuses, and gets its mark back.
func (d *Docker) dropStaleAgents(ctx context.Context, keep string) {
	list, err := d.api.VolumesNamed(ctx, agentPrefix)
	if err != nil {
		return // the next new binary tries again
	}
	for _, v := range list {
		made, _ := time.Parse(time.RFC3339, v.CreatedAt)
		if strings.HasPrefix(v.Name, keep) || strings.HasSuffix(v.Name, filledSuffix) || time.Since(made) < time.Minute {
			continue
		}
		_ = d.api.RemoveVolume(ctx, v.Name+filledSuffix)
		if d.api.RemoveVolume(ctx, v.Name) != nil {
			_ = d.api.CreateVolume(ctx, v.Name+filledSuffix, nil)
		}
	}
}

func fileHash(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), nil
}
