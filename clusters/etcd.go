package clusters

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/internal/gobuild"
	locks "github.com/dlmtest/dlmtest/internal/scratch"
)

const (
	etcdServer  = "go.etcd.io/etcd/server/v3"
	etcdControl = "go.etcd.io/etcd/etcdctl/v3"
)

var etcdVersion = regexp.MustCompile(`^v?3\.(\d+)(\.\d+)?$`)

// BuildEtcd returns an image of an etcd of another version than Debian's: 3.6, or
// 3.6.16. Where the image is missing it builds etcd and etcdctl on this host, with
// the go command and the module proxy, in a folder of their own; about a minute.
// Versions before 3.5 were other modules and are refused.
func (d *Docker) BuildEtcd(ctx context.Context, version string, progress func(line string)) (image string, err error) {
	unlock, err := locks.Lock(ctx, "etcd")
	if err != nil {
		return "", err
	}
	defer unlock()
	if version, err = resolveEtcd(ctx, version); err != nil {
		return "", err
	}
	base, name := "dlmtest/etcd:latest", "dlmtest/etcd:"+version
	tag := name + "-" + shortHash(recipe("etcd")+baseTag())
	if here, err := d.present(ctx, tag); here || err != nil {
		return tag, err
	}
	if err := d.EnsureImages(ctx, []string{base}, progress); err != nil {
		return "", err
	}
	dir, err := buildEtcd(ctx, version, progress)
	if err != nil {
		return "", err
	}
	text := "FROM " + reference(base) + "\nCOPY etcd etcdctl /usr/local/bin/\n"
	files := filesContext(text, filepath.Join(dir, "etcd"), filepath.Join(dir, "etcdctl"))
	defer files.Close()
	return tag, d.buildFrom(ctx, Image{Name: name, Tag: tag}, files, progress)
}

// CheckEtcd says whether a version of etcd is available: Debian's, or a release
// from 3.5 on.
func CheckEtcd(version string) error {
	parts := etcdVersion.FindStringSubmatch(version)
	if parts == nil || len(parts[1]) == 1 && parts[1] < "5" && !EtcdOfImage(version) {
		return fmt.Errorf("etcd %q: give a version from 3.5 on, such as 3.6 or 3.6.16, or Debian's %s", version, DebianEtcd)
	}
	return nil
}

// resolveEtcd makes v3.6.16 of 3.6.16, and the newest patch of 3.6.
func resolveEtcd(ctx context.Context, version string) (string, error) {
	if err := CheckEtcd(version); err != nil {
		return "", err
	}
	if EtcdOfImage(version) {
		return "", fmt.Errorf("etcd %s is Debian's, which is not built from its module", DebianEtcd)
	}
	parts := etcdVersion.FindStringSubmatch(version)
	version = "v" + strings.TrimPrefix(version, "v")
	if parts[2] != "" {
		return version, nil
	}
	out, err := gobuild.Command(ctx, os.TempDir(), "list", "-m", "-json", etcdServer+"@"+version)
	if err != nil {
		return "", fmt.Errorf("etcd %s: %w", version, err)
	}
	var module struct{ Version string }
	if err := json.Unmarshal(out, &module); err != nil || module.Version == "" {
		return "", fmt.Errorf("etcd %s: go list answered %q", version, out)
	}
	return module.Version, nil
}

// etcdProgram is etcd and etcdctl of a version, as modules to build.
func etcdProgram(version string) gobuild.Program {
	return gobuild.Program{Name: "etcd-" + version,
		Requires: []string{etcdServer + " " + version, etcdControl + " " + version},
		Binaries: map[string]string{"etcd": etcdServer, "etcdctl": etcdControl}}
}

// buildEtcd returns a folder with etcd and etcdctl of a version.
func buildEtcd(ctx context.Context, version string, progress func(line string)) (folder string, err error) {
	folder, err = gobuild.Build(ctx, etcdProgram(version), progress)
	if errors.Is(err, gobuild.ErrNoGo) {
		return "", fmt.Errorf("another etcd is built from its source: %w, or give a compose file with an image that has it", err)
	}
	return folder, err
}

// DebianEtcd is the version that Debian has, and the images.
const DebianEtcd = "3.4.23"

// EtcdOfImage says whether a version is the image's own, which needs no build.
func EtcdOfImage(version string) bool { return strings.TrimPrefix(version, "v") == DebianEtcd }

// PutEtcd has the etcd nodes of specs run a version of etcd that is built on this
// machine.
func (l *Local) PutEtcd(ctx context.Context, specs []NodeSpec, version string, progress func(line string)) error {
	if EtcdOfImage(version) {
		out, err := exec.CommandContext(ctx, "etcd", "--version").Output()
		if err != nil || !strings.Contains(string(out), "etcd Version: "+DebianEtcd) {
			return fmt.Errorf("etcd %s is Debian's, and this machine's is another: %q; install Debian's etcd-server, or "+
				"use the runtime docker", DebianEtcd, firstLine(out))
		}
		return nil
	}
	version, err := resolveEtcd(ctx, version)
	if err != nil {
		return err
	}
	folder, err := buildEtcd(ctx, version, progress)
	if err != nil {
		return err
	}
	for i := range specs {
		if s := &specs[i]; s.Role == "etcd" {
			s.Image = "etcd:" + version // not ours: what it runs is not looked for among Debian's packages
			s.Mounts = append(slices.Clone(s.Mounts), Mount{Type: "bind", Source: folder, Target: "/etcd", ReadOnly: true})
			s.Env = append(slices.Clone(s.Env), "PATH=/etcd:"+localPath())
		}
	}
	return nil
}

func firstLine(text []byte) string {
	line, _, _ := strings.Cut(string(text), "\n")
	return line
}

// filesContext streams a build context of a Dockerfile and some programs.
func filesContext(dockerfile string, programs ...string) io.ReadCloser {
	r, w := io.Pipe()
	go func() {
		t := tar.NewWriter(w)
		err := addFile(t, "Dockerfile", 0o644, strings.NewReader(dockerfile), int64(len(dockerfile)))
		for _, path := range programs {
			if err == nil {
				err = addProgram(t, path)
			}
		}
		w.CloseWithError(errors.Join(err, t.Close()))
	}()
	return r
}

func addProgram(t *tar.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return addFile(t, filepath.Base(path), 0o755, f, info.Size())
}

func addFile(t *tar.Writer, name string, mode int64, from io.Reader, size int64) error {
	if err := t.WriteHeader(&tar.Header{Name: name, Mode: mode, Size: size}); err != nil {
		return err
	}
	_, err := io.Copy(t, from)
	return err
}
