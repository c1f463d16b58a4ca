package clusters

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/clusters/engine"
)

// What each kind of node gets: no privilege but those of its agent, its faults and, where the
// image starts as root, its entrypoint; limits; and only guests a root that is read-only.
func TestConfine(t *testing.T) {
	d := &deployment{Docker: &Docker{}}
	agent := []string{"KILL", "SETGID", "SETPCAP", "SETUID"}
	tests := []struct {
		name   string
		spec   NodeSpec
		caps   []string
		memory int64
		pids   int64
	}{
		{"client", NodeSpec{Guest: true}, agent, GuestShares.Memory, GuestShares.Pids},
		{"client whose fault cuts", NodeSpec{Guest: true, CapAdd: []string{"NET_ADMIN"}}, append([]string{"NET_ADMIN"}, agent...), GuestShares.Memory, GuestShares.Pids},
		{"server", NodeSpec{User: "redis"}, agent, ServerShares.Memory, ServerShares.Pids},
		{"server of a root image", NodeSpec{User: "0:0"}, append(slices.Clone(rootCaps), agent...), ServerShares.Memory, ServerShares.Pids},
		{"that drops all", NodeSpec{CapDrop: []string{"ALL"}}, agent, ServerShares.Memory, ServerShares.Pids},
		{"that drops one", NodeSpec{CapDrop: []string{"CHOWN"}}, append([]string{"DAC_OVERRIDE", "FOWNER", "NET_BIND_SERVICE"}, agent...), ServerShares.Memory, ServerShares.Pids},
		{"server with a lossy disk", NodeSpec{User: "redis", CapAdd: []string{"SYS_ADMIN"}}, append([]string{"CHOWN", "DAC_OVERRIDE", "FOWNER", "SYS_ADMIN"}, agent...), ServerShares.Memory, ServerShares.Pids},
		{"limits of the compose file", NodeSpec{User: "redis", Limits: Limits{Memory: 8 << 30, Pids: 10}}, agent, 8 << 30, 10},
	}
	for _, test := range tests {
		h := d.host(test.spec, "agent")
		slices.Sort(test.caps)
		if !slices.Equal(h.CapAdd, test.caps) || !slices.Equal(h.CapDrop, []string{"ALL"}) {
			t.Errorf("%s: capabilities %v without %v, want %v", test.name, h.CapAdd, h.CapDrop, test.caps)
		}
		if h.Memory != test.memory || h.MemorySwap != test.memory || *h.PidsLimit != test.pids || h.ShmSize == 0 {
			t.Errorf("%s: memory %d, with swap %d, processes %d, shm %d", test.name, h.Memory, h.MemorySwap, *h.PidsLimit, h.ShmSize)
		}
		if !slices.Contains(h.SecurityOpt, "no-new-privileges") || h.ReadonlyRootfs != test.spec.Guest || (h.Tmpfs["/tmp"] != "") != test.spec.Guest {
			t.Errorf("%s: options %v, read-only %v, tmpfs %v", test.name, h.SecurityOpt, h.ReadonlyRootfs, h.Tmpfs)
		}
		if h.Privileged || len(h.DNS) != 1 || len(h.Binds) > 0 {
			t.Errorf("%s: %+v", test.name, h)
		}
	}
	open := &deployment{Docker: &Docker{}, open: true}
	if h := open.host(NodeSpec{Guest: true, Outside: true}, "agent"); len(h.DNS) > 0 {
		t.Errorf("a node that must reach a name outside asks %v for it", h.DNS)
	}
}

// Whom an image starts as root, or as nobody in particular, is not root as a guest.
func TestGuestIsNotRoot(t *testing.T) {
	for user, want := range map[string]string{"": guestUser, "0": guestUser, "root": guestUser, "0:0": guestUser, "root:staff": guestUser, "00": guestUser, "nobody": "nobody", "1000:1000": "1000:1000", "app": "app"} {
		s := NodeSpec{User: user}
		if asGuest(&s); s.User != want {
			t.Errorf("%q is %q, want %q", user, s.User, want)
		}
	}
}

// The kernel's own word of a running node, and Docker's of its network.
func TestConfinedInDocker(t *testing.T) {
	d := docker(t)
	c := bringUp(t, d, []NodeSpec{ClientSpec("a"), {Name: "b", Role: "b", Image: "dlmtest/redis:latest"}})
	const agent = "00000000000001e0" // KILL, SETGID, SETUID, SETPCAP
	for _, n := range c.Nodes {
		status := ask(t, n, "cat /proc/self/status")
		for _, line := range []string{"CapEff:\t" + agent, "CapBnd:\t" + agent, "NoNewPrivs:\t1", "Seccomp:\t2"} {
			if !strings.Contains(status, line) {
				t.Errorf("%s: %q lacks %q", n.Spec.Name, status, line)
			}
		}
		if mounts := ask(t, n, "cat /proc/self/mounts"); strings.Contains(mounts, " / ") && strings.Contains(mounts, " / fuse.fuse-overlayfs ro") != n.Spec.Guest && strings.Contains(mounts, " / overlay ro") != n.Spec.Guest {
			t.Errorf("%s: root file system: %q", n.Spec.Name, mounts)
		}
		nets, err := d.api.Networks(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		for _, net := range nets {
			if strings.HasPrefix(net.Name, "dlmtest-test-") && !net.Internal {
				t.Errorf("network %s leads outside", net.Name)
			}
		}
	}
	if got := c.Node("a").Spec.User; got != "nobody" {
		t.Errorf("a client is %q", got)
	}
}

// An image that declares volumes gets memory there, which has an end, and only where nothing
// else is mounted.
func TestOwnVolumes(t *testing.T) {
	declared := func(paths ...string) *engine.ImageConfig {
		c := &engine.ImageConfig{}
		c.Volumes = map[string]struct{}{}
		for _, p := range paths {
			c.Volumes[p] = struct{}{}
		}
		return c
	}
	s := NodeSpec{Image: "x", Mounts: []Mount{{Type: "bind", Source: "/a", Target: "/adapter", ReadOnly: true}}}
	if err := ownVolumes(&s, declared("/data", "/adapter/", "/tmp", "cache/../other")); err != nil {
		t.Fatal(err)
	}
	var targets []string
	for _, m := range s.Mounts[1:] {
		if targets = append(targets, m.Target); m.Type != "tmpfs" || m.Size <= 0 || m.Size > GuestShares.Temp {
			t.Errorf("%+v", m)
		}
	}
	if !slices.Equal(targets, []string{"/data", "/other"}) {
		t.Errorf("%v", targets)
	}
	many := make([]string, mostVolumes+1)
	for i := range many {
		many[i] = fmt.Sprintf("/v%d", i)
	}
	if err := ownVolumes(&s, declared(many...)); err == nil || !strings.Contains(err.Error(), "declares 17 volumes") {
		t.Error(err)
	}
	if err := ownVolumes(&s, nil); err != nil {
		t.Error(err)
	}
}

// A client's image that declares a volume can write there until it is full, and not on.
func TestVolumeOfAnImageHasAnEnd(t *testing.T) {
	d := docker(t)
	image := imageThat(t, d, "VOLUME /data")
	spec := ClientSpec("a")
	spec.Image = image
	c := bringUp(t, d, []NodeSpec{spec})
	said := ask(t, c.Nodes[0], "fill /data/fill")
	if !strings.Contains(said, "no space left on device") || !strings.Contains(said, fmt.Sprint(GuestShares.Temp/4)) {
		t.Errorf("%s", said)
	}
}

// imageThat is the clients' image with one more instruction of a Dockerfile, until the test ends.
func imageThat(t *testing.T, d *Docker, change string) string {
	t.Helper()
	id, err := d.api.CreateContainer(t.Context(), "", &engine.Config{Image: reference(ClientImage), Cmd: []string{"true"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	image := fmt.Sprintf("dlmtest/test-%d:%s", os.Getpid(), strings.ToLower(t.Name()))
	err = d.api.Commit(t.Context(), id, image, change)
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		_ = d.api.RemoveContainer(ctx, id)
		_ = d.api.RemoveImage(ctx, image)
	})
	if err != nil {
		t.Fatal(err)
	}
	return image
}
