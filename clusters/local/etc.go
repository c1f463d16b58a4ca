package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// withheld are parts of /etc that say how this machine is guarded and reached, and that no
// program of a run needs.
var withheld = map[string]bool{
	"shadow": true, "shadow-": true, "gshadow": true, "gshadow-": true, "passwd-": true, "group-": true, "subuid": true, "subgid": true,
	"sudoers": true, "sudoers.d": true, "sudo.conf": true, "ssh": true, "docker": true, "containerd": true, "kubernetes": true, "rancher": true,
	"NetworkManager": true, "systemd": true, "wireguard": true, "openvpn": true, "letsencrypt": true, "ppp": true, "cups": true, "exports": true,
	"fstab": true, "crypttab": true, "mtab": true, "machine-id": true, "krb5.keytab": true, "security": true, "pam.d": true, "polkit-1": true,
}

// ownEtc makes /etc of what everybody on the machine may read of the host's, with our own
// files in place of those that name its users and its network. Plain files are copied:
// hundreds of mounts would be copied with each node.
func ownEtc(root string, c Config) error {
	own := ownFiles(c)
	entries, err := os.ReadDir("/etc")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if _, ours := own[e.Name()]; ours || withheld[e.Name()] {
			continue
		}
		if err := show(filepath.Join("/etc", e.Name()), root, e); err != nil {
			return err
		}
	}
	for name, text := range own {
		if err := os.WriteFile(filepath.Join(root, "etc", name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// ownFiles has names from the hosts file alone, so that an unknown one is an error at once:
// no DNS server is in reach. The one user has a name, which initdb asks for.
func ownFiles(c Config) map[string]string {
	return map[string]string{
		"hosts":         hosts(c),
		"passwd":        fmt.Sprintf("dlmtest:x:%d:%d::/tmp:/bin/sh\nroot:x:0:0::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n", UID, GID),
		"group":         fmt.Sprintf("dlmtest:x:%d:\nroot:x:0:\nnogroup:x:65534:\n", GID),
		"nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
		"resolv.conf":   "",
	}
}

// show shows one entry of a folder of the host at the same place below root, if everybody
// may read it.
func show(path, root string, e fs.DirEntry) error {
	target := filepath.Join(root, path)
	if e.Type() == fs.ModeSymlink {
		return copyLink(path, target)
	}
	info, err := e.Info()
	if errors.Is(err, fs.ErrNotExist) {
		return nil // removed just now
	}
	if err != nil {
		return err
	}
	switch {
	case info.IsDir() && info.Mode()&0o5 == 0o5:
		if err := os.Mkdir(target, 0o755); err != nil {
			return err
		}
		return bindReadOnly(path, target)
	case info.Mode().IsRegular() && info.Mode()&0o4 != 0 && info.Size() < 4<<20:
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, text, info.Mode().Perm()|0o200) // ours, and read-only with all the rest
	}
	return nil
}

// ownOpt shows those packages of /opt that the nodes' PATH has programs of.
func ownOpt(root string, c Config) error {
	for _, folder := range filepath.SplitList(c.Path) {
		rest, inside := strings.CutPrefix(filepath.Clean(folder), "/opt/")
		name, _, _ := strings.Cut(rest, "/")
		target := filepath.Join(root, "opt", name)
		if _, err := os.Lstat(target); !inside || err == nil {
			continue
		}
		if err := os.Mkdir(target, 0o755); err != nil {
			return err
		}
		if err := bindReadOnly(filepath.Join("/opt", name), target); err != nil {
			return err
		}
	}
	return nil
}

// hosts is the run's name service, in the form that Docker writes.
func hosts(c Config) string {
	var b strings.Builder
	b.WriteString("127.0.0.1\tlocalhost\n")
	for _, n := range c.Nodes {
		fmt.Fprintf(&b, "%s\t%s\n", n.Addr, n.Name)
	}
	return b.String()
}
