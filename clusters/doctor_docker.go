package clusters

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/clusters/engine"
	"github.com/dlmtest/dlmtest/clusters/local"
)

const runtimeDocker = "docker"

func doctorDocker(ctx context.Context, self string) []Finding {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	daemon := Finding{Runtime: runtimeDocker, What: "daemon", Needed: true}
	d, err := NewDocker(ctx, self)
	if err != nil {
		daemon.Detail, daemon.Fix = err.Error(), "apt-get install docker.io && systemctl start docker, and your user "+
			"into the group docker; or point DOCKER_HOST at a daemon"
		return append([]Finding{daemon}, trialFindings(runtimeDocker, local.ForFaults, nil, "no daemon")...)
	}
	daemon.OK, daemon.Detail = true, d.describe(ctx)
	images, client := d.imagesFinding(ctx)
	found := []Finding{daemon, images, d.limitsFinding(ctx)}
	if !client {
		return append(found, trialFindings(runtimeDocker, local.ForFaults, nil, "no image of a client: dlmtest images build")...)
	}
	trials, err := d.try(ctx)
	if err != nil {
		return append(found, trialFindings(runtimeDocker, local.ForFaults, nil, err.Error())...)
	}
	return append(found, trialFindings(runtimeDocker, local.ForFaults, trials, "")...)
}

func (d *Docker) describe(ctx context.Context) string {
	v, err := d.api.Version(ctx)
	if err != nil {
		return d.api.Host()
	}
	return fmt.Sprintf("%s %s, API %s, kernel %s, at %s", v.Platform.Name, v.Version, d.api.APIVersion(), v.KernelVersion, d.api.Host())
}

// limitsFinding says what a node may take of the machine, and whether the daemon keeps it to that.
func (d *Docker) limitsFinding(ctx context.Context) Finding {
	f := Finding{Runtime: runtimeDocker, What: "limits"}
	info, err := d.api.Info(ctx)
	if err != nil {
		f.Detail, f.Fix = err.Error(), "see the daemon's log"
		return f
	}
	var missing []string
	for what, kept := range map[string]bool{"memory": info.MemoryLimit, "swap": info.SwapLimit, "processes": info.PidsLimit} {
		if !kept {
			missing = append(missing, what)
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		f.Detail = "this kernel does not limit " + strings.Join(missing, ", ") + ": code under test can take all of it"
		f.Fix = "boot with cgroup_enable=memory swapaccount=1, or use a kernel with cgroup v2"
		return f
	}
	f.OK, f.Detail = true, fmt.Sprintf("a server has %s; a client %s", ServerShares, GuestShares)
	return f
}

// imagesFinding also tells whether a client's image is here.
func (d *Docker) imagesFinding(ctx context.Context) (f Finding, client bool) {
	f = Finding{Runtime: runtimeDocker, What: "images", Needed: true}
	var missing []string
	for _, i := range Images() {
		if i.OnDemand {
			continue
		}
		here, err := d.present(ctx, i.Tag)
		if err != nil {
			f.Detail, f.Fix = err.Error(), "see the daemon's log"
			return f, false
		}
		if !here {
			missing = append(missing, i.target())
		}
		client = client || here && i.Name == ClientImage
	}
	if len(missing) == 0 {
		f.OK, f.Detail = true, "all are here"
		return f, client
	}
	how, err := d.baseFrom(ctx)
	f.OK, f.Detail = err == nil, fmt.Sprintf("%s missing; %s", strings.Join(missing, ", "), how)
	if err != nil {
		f.Detail += err.Error()
		f.Fix = "apt-get install mmdebstrap, or let the daemon reach a registry"
	}
	return f, client
}

// baseFrom says where a missing image's base would come from.
func (d *Docker) baseFrom(ctx context.Context) (string, error) {
	for _, ref := range []string{baseTag(), pulledBase} {
		if here, err := d.present(ctx, ref); err == nil && here {
			return "made at the first run from " + ref + ", which is here", nil
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	errPull := d.api.CanPull(ctx, pulledBase)
	if errPull == nil {
		return "made at the first run from " + pulledBase + ", which can be pulled", nil
	}
	if _, err := exec.LookPath("mmdebstrap"); err == nil {
		return "made at the first run by mmdebstrap from Debian's packages", nil
	}
	return "", fmt.Errorf("%s cannot be pulled (%w) and mmdebstrap is missing", pulledBase, errPull)
}

// try runs the trials in a container with the privileges that faults ask for.
func (d *Docker) try(ctx context.Context) ([]local.Trial, error) {
	trials, err := d.tryWith(ctx, true)
	if err == nil {
		return trials, nil
	}
	trials, errWithout := d.tryWith(ctx, false) // the daemon's machine may have no /dev/fuse
	return trials, errors.Join(errWithout, errIf(errWithout != nil, err))
}

func errIf(is bool, err error) error {
	if is {
		return err
	}
	return nil
}

func (d *Docker) tryWith(ctx context.Context, fuse bool) ([]local.Trial, error) {
	image := reference(ClientImage)
	volume, err := d.agentVolume(ctx, image)
	if err != nil {
		return nil, err
	}
	faulty := NodeSpec{CapAdd: []string{"NET_ADMIN", "SYS_ADMIN"}, User: guestUser} // what the faults add
	h := &engine.HostConfig{NetworkMode: "none", SecurityOpt: d.unconfined(ctx),
		Mounts: []engine.Mount{{Type: engine.Volumes, Source: volume, Target: agentFolder, ReadOnly: true}}}
	confine(h, faulty)
	if fuse {
		h.Devices = []engine.DeviceMapping{{PathOnHost: local.TryFuse, PathInContainer: local.TryFuse, CgroupPermissions: "rwm"}}
	}
	run := Run{ID: "doctor"}
	id, err := d.api.CreateContainer(ctx, "", &engine.Config{Image: image, User: "0", Labels: d.labels(run),
		Entrypoint: append([]string{agentPath, local.Command, "probe", "/tmp"}, local.ForFaults...)}, h)
	if err != nil {
		return nil, fmt.Errorf("try faults in a container: %w", err)
	}
	defer func() { _ = d.removeContainer(context.WithoutCancel(ctx), id) }()
	codes, errs := d.api.NextExit(ctx, id)
	if err := d.api.StartContainer(ctx, id); err != nil {
		return nil, fmt.Errorf("try faults in a container: %w", err)
	}
	select {
	case <-codes:
	case err := <-errs:
		return nil, fmt.Errorf("try faults in a container: %w", err)
	}
	return d.trials(ctx, id)
}

func (d *Docker) trials(ctx context.Context, id string) ([]local.Trial, error) {
	log, err := d.api.Logs(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("try faults in a container: %w", err)
	}
	defer log.Close()
	var out, said bytes.Buffer
	if err := engine.Split(&out, &said, log); err != nil {
		return nil, fmt.Errorf("try faults in a container: %w", err)
	}
	var trials []local.Trial
	if err := json.Unmarshal(out.Bytes(), &trials); err != nil {
		return nil, fmt.Errorf("try faults in a container: it said %q %q", out.String(), said.String())
	}
	return trials, nil
}

// unconfined is what a mount needs on hosts that have AppArmor; others refuse the word.
func (d *Docker) unconfined(ctx context.Context) []string {
	info, err := d.api.Info(ctx)
	if err == nil && strings.Contains(strings.Join(info.SecurityOptions, " "), "apparmor") {
		return []string{"apparmor=unconfined"}
	}
	return nil
}
