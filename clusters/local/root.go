package local

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// OwnFolders are the top folders that a node does not share with the host.
var OwnFolders = []string{"proc", "sys", "dev", "tmp", "run", "var", "dlmtest"}

// shown are the top folders of the host that every node sees, read-only: the programs of its
// packages. Homes, mounts, sockets of services and the folders of other runs are elsewhere,
// and so in no node's view. Of /etc and /opt a part is shown: see ownEtc and ownOpt.
var shown = regexp.MustCompile(`^(usr|bin|sbin|lib(32|64|x32)?|nix|gnu)$`)

// Hidden tells whether nodes cannot see a path of the host.
func Hidden(path string) bool {
	first, rest, _ := strings.Cut(strings.TrimPrefix(filepath.Clean(path), "/"), "/")
	switch first {
	case "etc":
		top, _, _ := strings.Cut(rest, "/")
		return withheld[top]
	case "opt":
		return rest == ""
	}
	return !shown.MatchString(first)
}

// dataFolders are below /var of every node: where the servers of
// docker-compose.yml keep their data.
var dataFolders = []string{"tmp", "log", "cache", "lib/redis", "lib/etcd", "lib/zookeeper", "lib/postgresql/data"}

// devices are harmless and the same for everybody.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}

// buildRoot makes the root folder that all nodes copy: what is shared is mounted
// once. It lies in memory and goes with the last process of the run.
func buildRoot(root string, c Config) error {
	if err := os.MkdirAll(root, 0o755); err != nil {
		return err
	}
	if err := tmpfs(root, "mode=755"); err != nil {
		return err
	}
	for _, name := range append([]string{"etc", "opt"}, OwnFolders...) {
		if err := os.Mkdir(filepath.Join(root, name), 0o755); err != nil {
			return err
		}
	}
	for _, part := range []func(string, Config) error{hostFolders, ownDevices, ownEtc, ownOpt, ownBinary} {
		if err := part(root, c); err != nil {
			return err
		}
	}
	return bindReadOnly("/sys", filepath.Join(root, "sys"))
}

func hostFolders(root string, _ Config) error {
	entries, err := os.ReadDir("/")
	if err != nil {
		return err
	}
	for _, e := range entries {
		source, target := "/"+e.Name(), filepath.Join(root, e.Name())
		switch {
		case !shown.MatchString(e.Name()):
		case e.Type() == fs.ModeSymlink: // /bin → usr/bin
			err = copyLink(source, target)
		case e.IsDir():
			if err = os.Mkdir(target, 0o755); err == nil {
				err = bindReadOnly(source, target)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func copyLink(source, target string) error {
	to, err := os.Readlink(source)
	if err != nil {
		return err
	}
	return os.Symlink(to, target)
}

// ownDevices shows those devices of the host that nodes need, and no disk.
func ownDevices(root string, c Config) error {
	dev := filepath.Join(root, "dev")
	for _, path := range slices.Concat(devices, c.Devices) {
		target := filepath.Join(root, path)
		if _, err := os.Lstat(target); err == nil || !strings.HasPrefix(path, "/dev/") {
			continue
		}
		err := mountPoint(path, target)
		if errors.Is(err, fs.ErrNotExist) && slices.Contains(devices, path) {
			continue // a bare container may have no tty
		}
		if err == nil {
			err = bind(path, target)
		}
		if err != nil {
			return fmt.Errorf("device: %w", err)
		}
	}
	for name, to := range map[string]string{"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"} {
		if err := os.Symlink(to, filepath.Join(dev, name)); err != nil {
			return err
		}
	}
	return os.Mkdir(filepath.Join(dev, "shm"), 0o755)
}

func ownBinary(root string, _ Config) error {
	self, err := inherit(fdSelf, "dlmtest")
	if err != nil {
		return err
	}
	defer self.Close()
	file, err := os.OpenFile(filepath.Join(root, Binary), os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, self)
	return errors.Join(err, file.Close())
}
