package clusters

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Nothing of a compose file lies where a node's agent is started from, or is called by what
// is a path. No flag lets it.
func TestNothingReplacesTheAgent(t *testing.T) {
	for yaml, want := range map[string]string{
		`volumes: ["./c.yml:/dlmtest/dlmtest:ro"]`: "no file of yours can replace", `volumes: ["vol:/dlmtest"]`: "no file of yours can replace",
		`volumes: [{type: bind, source: ., target: /x/../proc, read_only: true}]`: "no file of yours can replace", `volumes: ["./c.yml:/:ro"]`: "no file of yours can replace",
		`tmpfs: [/sys/fs]`: "no file of yours can replace", `tmpfs: ["/dev:size=1m"]`: "no file of yours can replace", `tmpfs: [/dev/shm]`: "",
		`volumes: [{type: tmpfs, target: /proc/self}]`: "no file of yours can replace", `labels: {dlmtest.data: /proc}`: "no file of yours can replace",
		`labels: {dlmtest.data: data}`: "want a path from the node's /", `volumes: [{type: volume, source: "..", target: /y}]`: `".." is no name of a volume`,
		`volumes: [{type: volume, source: v, target: /y}]`: "",
	} {
		for _, service := range []string{"a", ".."} {
			if service == ".." && want != "" {
				continue
			}
			path := filepath.Join(t.TempDir(), "c.yml")
			text := "services:\n  '" + service + "':\n    image: x\n    " + yaml + "\nvolumes: {v: {}, vol: {}, '..': {}}\n"
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, allow := range []bool{false, true} {
				_, err := LoadFile(t.Context(), path, "", allow)
				switch {
				case service == "..":
					wantError(t, err, `".." is no name of a node`)
				case want != "":
					wantError(t, err, want)
				case err != nil:
					t.Errorf("%s: %v", yaml, err)
				}
			}
		}
	}
}

// Links of what is bound, and of the image, lead no mount over the agent.
func TestNoLinkReplacesTheAgent(t *testing.T) {
	d := docker(t)
	dir := t.TempDir()
	for name, to := range map[string]string{"x": "/dlmtest", "y": "/var"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	image := imageThat(t, d, "VOLUME /proc/1")
	outer := Mount{Type: "bind", Source: dir, Target: "/m", ReadOnly: true}
	at := func(target string) []Mount { return []Mount{outer, {Type: "tmpfs", Target: target, Size: 1 << 20}} }
	for want, spec := range map[string]NodeSpec{
		"the mount at /m/x: it leads to /dlmtest": {Image: "dlmtest/redis:latest", Mounts: at("/m/x")},
		"the mount at /proc/1":                    {Image: image},
		"":                                        {Image: "dlmtest/redis:latest", Mounts: at("/m/y/tmp")},
	} {
		spec.Name, spec.Role = "a-1", "a"
		c, err := d.Up(t.Context(), runID(t), []NodeSpec{spec})
		if err == nil {
			c.Down(context.WithoutCancel(t.Context()))
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
