package local

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/dlmtest/dlmtest/nemesis/agent/seal"
)

// bind shows source at target, with all that is mounted below it: a part without
// its mounts would show what they hide, which the kernel refuses.
func bind(source, target string) error {
	if err := unix.Mount(source, target, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("bind %s to %s: %w", source, target, err)
	}
	return nil
}

// bindReadOnly is bind for what belongs to the host.
func bindReadOnly(source, target string) error {
	if err := bind(source, target); err != nil {
		return err
	}
	return readOnly(target, unix.AT_RECURSIVE)
}

// readOnly forbids writing through a mount, and more rights by what lies there; with
// AT_RECURSIVE through those below too.
func readOnly(path string, flags uint) error {
	return setAttributes(path, flags, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV, "read-only")
}

// restrict takes rights away from a mount and those below it.
func restrict(path string, attributes uint64) error {
	return setAttributes(path, unix.AT_RECURSIVE, attributes, "nosuid and nodev")
}

func setAttributes(path string, flags uint, attributes uint64, what string) error {
	err := unix.MountSetattr(unix.AT_FDCWD, path, flags, &unix.MountAttr{Attr_set: attributes})
	if errors.Is(err, unix.ENOSYS) {
		return fmt.Errorf("make %s %s: mount_setattr is missing: Linux 5.12 or newer is needed", path, what)
	}
	if err != nil {
		return fmt.Errorf("make %s %s: %w", path, what, err)
	}
	return nil
}

func tmpfs(target, options string) error {
	if err := unix.Mount("tmpfs", target, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return fmt.Errorf("mount tmpfs on %s: %w", target, err)
	}
	return nil
}

// below is where a path of a node lies in a folder of ours. It never leads out of that, whatever
// links are on the way: nothing but the node's own files may be mounted upon, made or removed.
func below(folder, target string) (string, error) {
	real, err := seal.Follow(target, func(path string) (string, bool) {
		to, err := os.Readlink(filepath.Join(folder, path))
		return to, err == nil
	})
	if err == nil && seal.Kept(real) {
		err = fmt.Errorf("%s leads to %s, by which a node is started", target, real)
	}
	return filepath.Join(folder, real), err
}

// mountPoint makes what a mount of source needs below it: a folder, or a file
// for a file.
func mountPoint(source, target string) error {
	info, err := os.Stat(source)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return os.MkdirAll(target, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	file, err := os.OpenFile(target, os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	return file.Close()
}
