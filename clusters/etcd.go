package clusters

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
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
	unlock, err := lockFile(ctx, "etcd")
	if err != nil {
		return "", err
	}
	defer unlock()
	if version, err = resolveEtcd(ctx, version); err != nil {
		return "", err
	}
	base, name := "dlmtest/etcd:latest", "dlmtest/etcd:"+version
	tag := name + "-" + recipeHash("etcd")
	if here, err := d.present(ctx, tag); here || err != nil {
		return tag, err
	}
	if err := d.EnsureImages(ctx, []string{base}, progress); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "dlmtest-etcd-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	stop := heartbeat(progress, "building etcd "+version+" with go")
	err = compileEtcd(ctx, dir, version)
	stop()
	if err != nil {
		return "", fmt.Errorf("etcd %s: %w", version, err)
	}
	text := "FROM " + reference(base) + "\nCOPY etcd etcdctl /usr/local/bin/\n"
	files := filesContext(text, filepath.Join(dir, "etcd"), filepath.Join(dir, "etcdctl"))
	defer files.Close()
	return tag, d.buildFrom(ctx, Image{Name: name, Tag: tag}, files, progress)
}

// resolveEtcd makes v3.6.16 of 3.6.16, and the newest patch of 3.6.
func resolveEtcd(ctx context.Context, version string) (string, error) {
	parts := etcdVersion.FindStringSubmatch(version)
	if parts == nil || len(parts[1]) == 1 && parts[1] < "5" {
		return "", fmt.Errorf("etcd %q: give a version from 3.5 on, such as 3.6 or 3.6.16", version)
	}
	version = "v" + strings.TrimPrefix(version, "v")
	if parts[2] != "" {
		return version, nil
	}
	out, err := goCommand(ctx, os.TempDir(), "list", "-m", "-json", etcdServer+"@"+version)
	if err != nil {
		return "", fmt.Errorf("etcd %s: %w", version, err)
	}
	var module struct{ Version string }
	if err := json.Unmarshal(out, &module); err != nil || module.Version == "" {
		return "", fmt.Errorf("etcd %s: go list answered %q", version, out)
	}
	return module.Version, nil
}

// compileEtcd makes dir/etcd and dir/etcdctl.
func compileEtcd(ctx context.Context, dir, version string) error {
	for _, command := range [][]string{
		{"mod", "init", "etcd"},
		{"get", etcdServer + "@" + version, etcdControl + "@" + version},
		{"build", "-trimpath", "-ldflags=-s -w", "-o", "etcd", etcdServer},
		{"build", "-trimpath", "-ldflags=-s -w", "-o", "etcdctl", etcdControl},
	} {
		if _, err := goCommand(ctx, dir, command...); err != nil {
			return err
		}
	}
	return nil
}

// goCommand runs the go command in a folder that is in no module of the user's,
// and ends its compilers with it.
func goCommand(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	// The containers are of this machine's kind, and need no C library.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOWORK=off", "GOFLAGS=-mod=mod", "PWD="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return nil, fmt.Errorf("another etcd is built from its source, and there is no go command: install Go, or give a compose file with an image that has it: %w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, lastLines(said.String(), 15))
	}
	return out, nil
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
