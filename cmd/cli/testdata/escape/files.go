package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

var fileProbes = []probe{
	{"secrets", func() (string, error) { return any(strings.Split(*secrets, ","), reads) }},
	{"secrets-write", func() (string, error) {
		return any(strings.Split(*secrets, ","), func(path string) error {
			file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
			if err == nil {
				_ = file.Close()
			}
			return err
		})
	}},
	{"in-view", func() (string, error) {
		return any(strings.Split(*sights, ","), func(path string) error { _, err := os.Lstat(path); return err })
	}},
	{"shadow", func() (string, error) {
		return any([]string{"/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/ssh/ssh_host_ed25519_key"}, reads)
	}},
	{"home-of-root", func() (string, error) { return any([]string{"/root", "/root/.ssh", "/root/.docker"}, lists) }},
	{"other-runs", func() (string, error) {
		found, _ := filepath.Glob("/tmp/dlmtest-local-*/*")
		more, _ := filepath.Glob("/var/tmp/dlmtest-*")
		return any(append(found, more...), lists)
	}},
	{"write-root", func() (string, error) {
		return any([]string{"/", "/etc", "/usr", "/usr/bin", "/opt", "/home", "/root", "/srv", "/dlmtest", "/adapter", "/mnt", "/media",
			"/lib", "/sys", "/boot", "/lib64", "/sbin", "/work"}, creates)
	}},
	{"write-program", func() (string, error) {
		return any([]string{"/dlmtest/dlmtest", "/adapter/escape", "/bin/sh", "/etc/hosts",
			"/etc/resolv.conf", "/etc/passwd", "/etc/hostname"}, func(path string) error {
			file, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err == nil {
				_ = file.Close()
			}
			return err
		})
	}},
	{"make-device", func() (string, error) {
		return any([]string{"8:0", "254:0", "1:1", "1:11", "10:229"}, func(number string) error {
			var major, minor uint32
			_, _ = fmt.Sscanf(number, "%d:%d", &major, &minor)
			path := filepath.Join(os.TempDir(), "device-"+number)
			err := unix.Mknod(path, unix.S_IFBLK|0o600, int(unix.Mkdev(major, minor)))
			_ = os.Remove(path)
			return err
		})
	}},
	{"open-device", func() (string, error) { return any(devices(), func(path string) error { return opensDevice(path) }) }},
	{"setuid-program", func() (string, error) {
		return any(setuidPrograms, rises)
	}},
	{"setuid-own", func() (string, error) {
		if *setuid == "" {
			return "", errors.New("the test is not root, so it has none to give")
		}
		out, err := exec.Command(*setuid, "whoami").CombinedOutput()
		var uid, euid int
		if _, scan := fmt.Sscan(string(out), &uid, &euid); scan != nil {
			return "", fmt.Errorf("%w: %.100s", err, out)
		}
		if uid == euid {
			return "", fmt.Errorf("its owner's rights were not given: %d", euid)
		}
		return fmt.Sprintf("user %d", euid), nil
	}},
	{"make-setuid", func() (string, error) {
		path := filepath.Join(os.TempDir(), "setuid")
		if err := os.WriteFile(path, nil, 0o755); err != nil {
			return "", err
		}
		return "a file of root's", unix.Chown(path, 0, 0)
	}},
}

// setuidPrograms are those that a probe starts; no node has use for them.
var setuidPrograms = []string{"/bin/su", "/bin/mount", "/usr/bin/newgrp", "/usr/bin/passwd", "/usr/bin/chsh", "/usr/bin/sudo"}

func reads(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = file.Read(make([]byte, 1))
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func lists(path string) error {
	entries, err := os.ReadDir(path)
	if err == nil && len(entries) == 0 {
		return errors.New("empty")
	}
	return err
}

func creates(dir string) error {
	path := filepath.Join(dir, ".escape-"+*mark)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_ = file.Close()
	_ = os.Remove(path)
	return nil
}

// harmless devices are the same for everybody.
var harmless = map[string]bool{"null": true, "zero": true, "full": true, "random": true, "urandom": true, "tty": true, "stdin": true,
	"stdout": true, "stderr": true, "fd": true, "ptmx": true, "pts": true, "shm": true, "mqueue": true, "core": true, "log": true}

func devices() []string {
	all := []string{"/dev/mem", "/dev/kmsg", "/dev/sda", "/dev/vda", "/dev/fuse", "/dev/kvm", "/dev/net/tun", "/dev/console", "/dev/loop-control"}
	entries, _ := os.ReadDir("/dev")
	for _, e := range entries {
		if !harmless[e.Name()] && e.Type()&os.ModeDevice != 0 {
			all = append(all, "/dev/"+e.Name())
		}
	}
	return all
}

func opensDevice(path string) error {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err == nil {
		_ = unix.Close(fd)
	}
	return err
}

// rises starts a program with the setuid bit and watches whether it gets the rights of root.
func rises(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Mode()&os.ModeSetuid == 0 {
		return errors.New("has no setuid bit")
	}
	for range 5 {
		cmd := exec.Command(path)
		in, err := cmd.StdinPipe()
		if err != nil {
			return err
		}
		if err := cmd.Start(); err != nil {
			return err
		}
		risen := false
		for end := time.Now().Add(50 * time.Millisecond); time.Now().Before(end) && !risen; {
			ids := strings.Fields(statusOf(cmd.Process.Pid, "Uid"))
			risen = len(ids) > 1 && ids[1] == "0" && os.Getuid() != 0
		}
		_ = in.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if risen {
			return nil
		}
	}
	return errors.New("ran, and as before")
}
