package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// databaseFolder is where initdb works, seen from the nodes' root.
const databaseFolder = "/var/lib/postgresql/data"

// wantsDatabase tells whether any node runs PostgreSQL.
func (r *run) wantsDatabase() bool {
	for _, n := range r.Nodes {
		if n.Database != "" {
			return true
		}
	}
	return false
}

// makeDatabase runs initdb unless an earlier run of this user has: it takes
// seconds. Like the image's, the database trusts everybody and has small logs.
func (r *run) makeDatabase() error {
	if _, err := os.Stat(r.cache); err == nil || !r.wantsDatabase() {
		return nil
	}
	draft := filepath.Join(r.folder, "database")
	inside := filepath.Join(r.root, databaseFolder)
	if err := errors.Join(os.MkdirAll(draft, 0o700), os.MkdirAll(inside, 0o700)); err != nil {
		return err
	}
	if err := bind(draft, inside); err != nil {
		return err
	}
	defer func() { _ = unix.Unmount(inside, unix.MNT_DETACH) }() // it goes with the run at the latest
	if err := r.initdb(); err != nil {
		return err
	}
	if err := configure(draft); err != nil {
		return err
	}
	if err := os.Rename(draft, r.cache); err != nil && !errors.Is(err, fs.ErrExist) { // another run was faster
		return fmt.Errorf("keep the database: %w", err)
	}
	return nil
}

// initdb runs in the nodes' root, where the user has a name.
func (r *run) initdb() error {
	if err := tmpfs(filepath.Join(r.root, "tmp"), "mode=1777"); err != nil {
		return err
	}
	defer func() { _ = unix.Unmount(filepath.Join(r.root, "tmp"), unix.MNT_DETACH) }() // each node has its own over it
	cmd := exec.Command(r.Database[0], append(r.Database[1:len(r.Database):len(r.Database)], "--pgdata="+databaseFolder)...)
	cmd.Env = []string{"PATH=" + r.Path, "LC_ALL=C", "TZ=UTC"}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: r.root}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return nil
}

// configure lets every node in, and puts the socket where every node has a folder.
func configure(folder string) error {
	for name, text := range map[string]string{
		"pg_hba.conf":     "host all all all trust\n",
		"postgresql.conf": "listen_addresses = '*'\nunix_socket_directories = '/tmp'\n",
	} {
		file, err := os.OpenFile(filepath.Join(folder, name), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = file.WriteString(text)
		if err := errors.Join(err, file.Close()); err != nil {
			return err
		}
	}
	return nil
}

// copyDatabase gives a node its own copy, which only its owner may enter:
// PostgreSQL insists.
func (r *run) copyDatabase(c nodeConfig) error {
	if c.Database == "" {
		return nil
	}
	folder, err := below(c.Own, c.Database) // a compose file says where
	if err != nil {
		return err
	}
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := os.CopyFS(folder, os.DirFS(r.cache)); err != nil {
		return fmt.Errorf("copy the database: %w", err)
	}
	return os.Chmod(folder, 0o700)
}
