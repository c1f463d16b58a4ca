package lossy

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// patience is how long a clean unmount and the end of the server may take.
const patience = 3 * time.Second

// mount opens the FUSE connection and serves it. It does not use go-fuse's own
// mount: that one opens /dev/fuse without O_CLOEXEC, and a child that inherits
// the descriptor keeps a dead mount alive.
func (f *FS) mount() error {
	if err := checkFolder("mount point", f.opts.Mount); err != nil {
		return err
	}
	fd, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("lossy: open /dev/fuse: %w (in Docker: --device /dev/fuse --cap-add SYS_ADMIN)", err)
	}
	opts := fmt.Sprintf("fd=%d,rootmode=40000,user_id=%d,group_id=%d,default_permissions,max_read=%d",
		fd, os.Getuid(), os.Getgid(), maxIO)
	if f.opts.AllowOther {
		opts += ",allow_other"
	}
	if err := unix.Mount("dlmtest", f.opts.Mount, "fuse.dlmtest", unix.MS_NOSUID|unix.MS_NODEV, opts); err != nil {
		_ = unix.Close(fd)
		return fmt.Errorf("lossy: mount on %s: %w (in Docker: --cap-add SYS_ADMIN, and apparmor=unconfined where there is AppArmor)", f.opts.Mount, err)
	}
	f.conn = connection(f.opts.Mount)
	f.server, err = fuse.NewServer(&wire{RawFileSystem: fuse.NewDefaultRawFileSystem(), vol: f.vol},
		fmt.Sprintf("/dev/fd/%d", fd), &fuse.MountOptions{
			Name: "dlmtest", MaxWrite: maxIO, MaxBackground: 64,
			// Without this the kernel asks for security.capability before each write.
			DisableXAttrs:      true,
			DisableReadDirPlus: true, // servers list folders seldom
			// Nobody else changes the files, so cached pages stay true when mtime moves.
			ExplicitDataCacheControl: true,
		})
	if err != nil { // the descriptor is go-fuse's now
		return errors.Join(fmt.Errorf("lossy: serve %s: %w", f.opts.Mount, err), Detach(f.opts.Mount))
	}
	go func() { f.server.Serve(); close(f.ended) }()
	refusePoll(f.opts.Mount)
	return nil
}

// maxIO is the longest read or write in one request.
const maxIO = 1 << 20

// refusePoll makes the kernel learn now that we have no poll. Go's os.Open polls
// every file that it opens, in a way that the scheduler does not see: in a
// process that also serves the mount that would be a deadlock.
func refusePoll(mount string) {
	fd, err := unix.Open(filepath.Join(mount, ".go-fuse-epoll-hack"), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	_, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
	_ = unix.Close(fd)
}

// unmountClean unmounts so that the kernel hands over what mappings have dirtied.
func (f *FS) unmountClean() error {
	for deadline := time.Now().Add(patience / 3); ; {
		err := unix.Unmount(f.opts.Mount, unix.UMOUNT_NOFOLLOW)
		if err == nil && await(f.ended, patience) {
			return nil
		}
		if !errors.Is(err, unix.EBUSY) || time.Now().After(deadline) {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	// Somebody still has files open. syncfs fetches what their mappings hold; it runs
	// aside, for it hangs if the kernel never gets an answer.
	synced := make(chan struct{})
	go func() {
		syncfs(f.opts.Mount)
		// It begins the writes and does not wait for our answers: the kernel does not
		// trust a file system in user space to give any.
		for deadline := time.Now().Add(patience); !idle(f.conn) && time.Now().Before(deadline); {
			time.Sleep(5 * time.Millisecond)
		}
		close(synced)
	}()
	await(synced, patience)
	return f.teardown()
}

func syncfs(mount string) {
	fd, err := unix.Open(mount, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	_ = unix.Syncfs(fd)
	_ = unix.Close(fd)
}

// teardown ends the mount whoever still uses it.
func (f *FS) teardown() error {
	err := Detach(f.opts.Mount)
	if await(f.ended, patience) {
		return err
	}
	// The forced unmount should have aborted the connection; another mount on top of
	// it or another mount namespace can be in the way.
	if aborted := abort(f.conn); aborted != nil {
		return errors.Join(err, aborted)
	}
	if !await(f.ended, patience) {
		return errors.Join(err, fmt.Errorf("lossy: connection %s goes on after its abort", f.conn))
	}
	return err
}

// Detach aborts and unmounts every FUSE mount on path, dead or alive, without
// touching the files in it. It is no error if there is none.
func Detach(path string) error {
	for range 8 { // mounts may lie on top of each other
		conn := connection(path)
		if conn == "" {
			return nil
		}
		// MNT_FORCE is the abort: whoever waits for us gets an error. MNT_DETACH
		// unmounts even though files are open.
		if err := unix.Unmount(path, unix.MNT_FORCE|unix.MNT_DETACH); err != nil {
			return errors.Join(fmt.Errorf("lossy: unmount %s: %w", path, err), abort(conn))
		}
	}
	return fmt.Errorf("lossy: %s: there are ever more mounts on it", path)
}

// connection returns the number of the FUSE connection that is mounted on path,
// topmost; empty: none. It reads mountinfo, for a stat of a dead mount may hang.
func connection(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	// Not the last part: that is the mount, which may be dead.
	if parent, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
		abs = filepath.Join(parent, filepath.Base(abs))
	}
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	escaped := strings.NewReplacer(`\`, `\134`, " ", `\040`, "\t", `\011`, "\n", `\012`).Replace(abs)
	conn := ""
	for line := range strings.Lines(string(text)) {
		// 36 35 0:42 / /mnt rw,nosuid - fuse.dlmtest dlmtest rw
		place, kind, _ := strings.Cut(line, " - ")
		p := strings.Fields(place)
		if len(p) > 4 && p[4] == escaped {
			conn = ""
			if strings.HasPrefix(kind, "fuse.") {
				_, conn, _ = strings.Cut(p[2], ":")
			}
		}
	}
	return conn
}

// abort ends a connection.
func abort(conn string) error {
	return control(conn, func(folder string) error {
		err := os.WriteFile(filepath.Join(folder, "abort"), []byte("1"), 0)
		if errors.Is(err, os.ErrNotExist) {
			return nil // it has ended
		}
		return err
	})
}

// idle says that the kernel has no request under way on a connection.
func idle(conn string) bool {
	none := true
	_ = control(conn, func(folder string) error { // gone, or not to be seen: then nothing is known to wait for
		text, err := os.ReadFile(filepath.Join(folder, "waiting"))
		none = err != nil || strings.TrimSpace(string(text)) == "0"
		return err
	})
	return none
}

// control calls use with the folder in which the kernel shows a connection. Where fusectl
// is not mounted it makes a mount that is in no folder: it goes with its descriptor.
func control(conn string, use func(folder string) error) error {
	const usual = "/sys/fs/fuse/connections"
	if _, err := os.Stat(filepath.Join(usual, conn, "abort")); err == nil {
		return use(filepath.Join(usual, conn))
	}
	made, err := unix.Fsopen("fusectl", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return fmt.Errorf("lossy: fusectl: %w", err)
	}
	defer unix.Close(made)
	if err := unix.FsconfigCreate(made); err != nil {
		return fmt.Errorf("lossy: fusectl: %w", err)
	}
	root, err := unix.Fsmount(made, unix.FSMOUNT_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("lossy: mount fusectl: %w", err)
	}
	defer unix.Close(root)
	return use(filepath.Join("/proc/self/fd", strconv.Itoa(root), conn))
}
