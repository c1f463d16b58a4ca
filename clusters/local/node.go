package local

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/dlmtest/dlmtest/nemesis/agent/seal"
)

// runNode makes this process the node and then the agent. It returns only if
// that failed.
func runNode() error {
	config, err := inherit(fdNodeConfig, "configuration")
	if err != nil {
		return err
	}
	said, err := inherit(fdNodeError, "error")
	if err != nil {
		return err
	}
	var c nodeConfig
	if err = json.NewDecoder(config).Decode(&c); err == nil {
		err = c.become()
	}
	_, _ = fmt.Fprintln(said, err) // nobody listens: the exit code says it too
	return err
}

func (c nodeConfig) become() error {
	if err := unix.Sethostname([]byte(c.Name)); err != nil {
		return fmt.Errorf("host name: %w", err)
	}
	if err := c.mountAll(); err != nil {
		return err
	}
	if err := enter(c.Root); err != nil {
		return fmt.Errorf("enter the node's root folder: %w", err)
	}
	if err := bringUp(c.Addr, c.Bits); err != nil {
		return err
	}
	if err := openable(c.Devices); err != nil {
		return err
	}
	env := append([]string{seal.Variable + "=" + string(seal.Namespaces)}, c.Env...) // the first of a name counts
	if err := syscall.Exec(Binary, []string{Name, "agent"}, env); err != nil {
		return fmt.Errorf("start the agent: %w", err)
	}
	return nil
}

// mountAll lays what is the node's own over the shared root, in this process's
// own mount table.
func (c nodeConfig) mountAll() error {
	if err := c.ownFolders(); err != nil {
		return err
	}
	if err := unix.Mount("proc", filepath.Join(c.Root, "proc"), "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w (inside a container whose /proc is masked: start it with --security-opt systempaths=unconfined)", err)
	}
	if err := tmpfs(filepath.Join(c.Root, "dev/shm"), sized(c.Shm)); err != nil {
		return err
	}
	for i, m := range c.Mounts {
		if err := c.mount(i, m); err != nil {
			return fmt.Errorf("mount %s: %w", m.Target, err)
		}
	}
	for _, device := range c.Withheld {
		if err := unix.Unmount(filepath.Join(c.Root, device), unix.MNT_DETACH); err != nil {
			return fmt.Errorf("take away %s: %w", device, err)
		}
	}
	return readOnly(c.Root, 0) // last: mount points were made in it
}

// ownFolders are where a node can write: on the host's disk, as memory would be filled by
// etcd's logs. A guest, which runs code under test, would fill the disk instead; it has as
// much memory for its files as a container would have.
func (c nodeConfig) ownFolders() error {
	for _, name := range []string{"tmp", "run", "var"} {
		if err := bind(filepath.Join(c.Own, name), filepath.Join(c.Root, name)); err != nil {
			return err
		}
		if err := restrict(filepath.Join(c.Root, name), unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV); err != nil {
			return err
		}
	}
	if c.Temp == 0 {
		return nil
	}
	if err := readOnly(filepath.Join(c.Root, "var"), 0); err != nil {
		return err
	}
	for name, size := range map[string]int64{"tmp": c.Temp, "var/tmp": c.Temp / 4, "run": c.Temp / 16} {
		if err := tmpfs(filepath.Join(c.Root, name), sized(size)); err != nil {
			return err
		}
	}
	if err := os.Mkdir(filepath.Join(c.Root, "run/lock"), 0o755); err != nil {
		return err
	}
	// Mapped, /dev/zero is memory that nobody counts. /dev/full gives as many zeros and cannot be.
	return bind(filepath.Join(c.Root, "dev/full"), filepath.Join(c.Root, "dev/zero"))
}

// sized are the options of a tmpfs for everybody.
func sized(bytes int64) string { return Mount{Size: bytes}.tmpfs() }

// mount lays one of the compose file's mounts over the root.
func (c nodeConfig) mount(number int, m Mount) error {
	target, err := below(c.Root, m.Target)
	if err != nil {
		return err
	}
	if m.Type == "tmpfs" {
		if err := os.MkdirAll(target, 0o755); err != nil {
			return err
		}
		return tmpfs(target, m.tmpfs())
	}
	source := m.Source
	if m.Type == "volume" {
		source = filepath.Join(c.Volumes, m.Source)
		if m.Source == "" {
			source = filepath.Join(c.Own, fmt.Sprintf("volume-%d", number))
		}
		if err := os.MkdirAll(source, 0o755); err != nil {
			return err
		}
	}
	if err := mountPoint(source, target); err != nil {
		return err
	}
	if m.ReadOnly {
		return bindReadOnly(source, target)
	}
	if err := bind(source, target); err != nil {
		return err
	}
	return restrict(target, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
}

// UsualTmpfs is how many bytes a tmpfs holds of which nobody said.
const UsualTmpfs = int64(seal.ServerMemory / 4)

// A file takes memory of the kernel beside its bytes, so a tmpfs of some size has one for so many
// bytes of that, and some at least.
const (
	fileEach   = 4096
	leastFiles = 1024
)

// tmpfs are the options of a tmpfs.
func (m Mount) tmpfs() string {
	mode := m.Mode
	if mode == 0 {
		mode = 0o1777
	}
	size := m.Size
	if size == 0 {
		size = UsualTmpfs
	}
	return fmt.Sprintf("mode=%o,nr_inodes=%d,size=%d", mode, max(leastFiles, size/fileEach), size)
}

// enter makes root the root folder and lets go of the host's. The old root lies
// under the new one for a moment: pivot_root(2), "pivot_root(".", ".")".
func enter(root string) error {
	if err := os.Chdir(root); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return err
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return err
	}
	return os.Chdir("/")
}

// openable tries the devices that the node's faults need: better now than in the
// middle of a run.
func openable(devices []string) error {
	for _, path := range devices {
		if !strings.HasPrefix(path, "/dev/") {
			return fmt.Errorf("device %s: not below /dev", path)
		}
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return fmt.Errorf("device: %w; allow it to this user (as root: chmod 666 %s), or use the runtime docker", err, path)
		}
		_ = file.Close()
	}
	return nil
}
