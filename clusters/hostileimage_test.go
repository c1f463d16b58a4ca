package clusters

import (
	"archive/tar"
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/clusters/engine"
)

// imageWith is the clients' image with one more file, or link, until the test ends.
func imageWith(t *testing.T, d *Docker, entry tar.Header, text string) string {
	t.Helper()
	id, err := d.api.CreateContainer(t.Context(), "", &engine.Config{Image: reference(ClientImage), Cmd: []string{"true"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	entry.Size = int64(len(text))
	if err := w.WriteHeader(&entry); err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(w, text)
	_ = w.Close()
	if err := d.api.CopyTo(t.Context(), id, "/", &b); err != nil {
		t.Fatal(err)
	}
	name := "dlmtest/test:" + strings.ToLower(strings.NewReplacer("/", "-").Replace(runID(t).ID+entry.Name))
	err = d.api.Commit(t.Context(), id, name, "USER 0")
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		_ = d.api.RemoveContainer(ctx, id)
		_ = d.api.RemoveImage(ctx, name)
	})
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// No image puts elsewhere what a node is started and sealed by, or has Docker wait for a pipe.
func TestImageIsInPlace(t *testing.T) {
	d := docker(t)
	for _, c := range []struct{ name, to, want string }{
		{"etc/passwd", "", "its image has no file at /etc/passwd, but prw-r--r-- at /etc/passwd"},
		{"etc/group", "/proc/self/fd/0", "its image has no file at /etc/group"},
		{"dlmtest", "/opt", "its image has a link at /dlmtest, which leads to /opt"},
	} {
		spec := ClientSpec("a")
		entry := tar.Header{Name: c.name, Linkname: c.to, Typeflag: tar.TypeSymlink}
		if c.to == "" {
			entry = tar.Header{Name: c.name, Mode: 0o644, Typeflag: tar.TypeFifo}
		}
		spec.Image = imageWith(t, d, entry, "")
		cluster, err := d.Up(t.Context(), runID(t), []NodeSpec{spec})
		if err == nil {
			cluster.Down(context.WithoutCancel(t.Context()))
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s to %s: %v, want %q", c.name, c.to, err, c.want)
		}
	}
}

// The volume with the agent is that of all runs: nothing of the image is in it that happened to be the first.
func TestAgentVolumeBeginsEmpty(t *testing.T) {
	d := docker(t)
	text, err := os.ReadFile(agentBinary)
	if err != nil {
		t.Fatal(err)
	}
	d.Self = filepath.Join(t.TempDir(), "agent") // another one, which no volume has yet
	if err := os.WriteFile(d.Self, append(text, runID(t).ID...), 0o755); err != nil {
		t.Fatal(err)
	}
	spec := ClientSpec("a")
	spec.Image = imageWith(t, d, tar.Header{Name: "dlmtest/planted", Mode: 0o777, Typeflag: tar.TypeReg}, "x")
	c := bringUp(t, d, []NodeSpec{spec})
	if got := ask(t, c.Nodes[0], "cat /dlmtest/planted"); !strings.Contains(got, "no such file") {
		t.Errorf("the volume has a file of the image: %q", got)
	}
	if err := c.Down(t.Context()); err != nil {
		t.Fatal(err)
	}
	sum, err := fileHash(d.Self)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{agentPrefix + sum[:16] + filledSuffix, agentPrefix + sum[:16]} {
		if err := d.api.RemoveVolume(t.Context(), name); err != nil {
			t.Error(err)
		}
	}
}

// What an image says of the environment is for what runs there, and not for the agent, which is not sealed.
func TestImageSaysNothingToTheAgent(t *testing.T) {
	d := docker(t)
	image := imageThat(t, d, "ENV GODEBUG=gctrace=1 GOMAXPROCS=1 PATH=/evil TMPDIR=/evil DLMTEST_SEAL=open DLMTEST_X=1")
	spec := ClientSpec("a")
	spec.Image = image
	c := bringUp(t, d, []NodeSpec{spec})
	got := ask(t, c.Nodes[0], "cat /proc/self/environ")
	for _, word := range []string{"GODEBUG", "GOMAXPROCS", "evil", "DLMTEST_X", "open"} {
		if strings.Contains(got, word) {
			t.Errorf("the agent was told %s: %q", word, got)
		}
	}
	if !strings.Contains(got, "DLMTEST_SEAL=users") {
		t.Errorf("the agent's environment is %q", got)
	}
	if env := strings.Join(c.Nodes[0].Spec.Env, " "); !strings.Contains(env, "GODEBUG=gctrace=1") || !strings.Contains(env, "PATH=/evil") {
		t.Errorf("its programs get %q", env)
	}
}
