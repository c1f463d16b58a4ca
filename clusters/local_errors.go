package clusters

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
)

// ErrNoNamespaces says that this machine does not let the runtime local work.
var ErrNoNamespaces = errors.New("the runtime local cannot make namespaces here")

// fixable is an error that somebody can do something about.
type fixable struct {
	err error
	fix string
}

func (f *fixable) Error() string { return f.err.Error() + "; " + f.fix }

func (f *fixable) Unwrap() error { return f.err }

// namespaceSwitches are kernel settings that forbid namespaces to ordinary
// users. Not every kernel has every one.
var namespaceSwitches = []struct {
	path, bad string
	fix       string
}{
	{"/proc/sys/user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=10000"},
	{"/proc/sys/user/max_net_namespaces", "0", "sysctl -w user.max_net_namespaces=10000"},
	{"/proc/sys/kernel/unprivileged_userns_clone", "0", "sysctl -w kernel.unprivileged_userns_clone=1"},
	{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1",
		"sysctl -w kernel.apparmor_restrict_unprivileged_userns=0 (or an AppArmor profile with \"userns,\" for this binary)"},
}

// forbidden finds the setting that forbids namespaces. Root is bound by limits
// of zero only.
func forbidden() error {
	if _, err := os.Stat("/proc/self/ns/user"); err != nil {
		return fmt.Errorf("%w: this kernel has no user namespaces (CONFIG_USER_NS)", ErrNoNamespaces)
	}
	for _, s := range namespaceSwitches {
		value, err := os.ReadFile(s.path)
		if err != nil || strings.TrimSpace(string(value)) != s.bad {
			continue
		}
		if os.Geteuid() == 0 && !strings.HasPrefix(s.path, "/proc/sys/user/") {
			continue
		}
		return &fixable{fmt.Errorf("%w: %s is %s", ErrNoNamespaces, s.path, s.bad), "as root: " + s.fix}
	}
	return nil
}

// explainLocal adds what to do to a refusal of the kernel.
func explainLocal(err error) error {
	is := func(all ...syscall.Errno) bool {
		return slices.ContainsFunc(all, func(e syscall.Errno) bool { return errors.Is(err, e) })
	}
	if cause := forbidden(); cause != nil && is(syscall.EPERM, syscall.EACCES, syscall.ENOSPC, syscall.EINVAL) {
		return fmt.Errorf("%w (%w)", cause, err)
	}
	at := new(fs.PathError)
	if !errors.As(err, &at) {
		return err
	}
	starts := at.Op == "fork/exec"
	switch {
	case starts && is(syscall.EACCES):
		return &fixable{err, "the dlmtest binary must be readable and executable by everybody (chmod 755), for a run by root runs as nobody"}
	case starts && is(syscall.ENOSPC):
		return &fixable{fmt.Errorf("%w: %w; too many namespaces", ErrNoNamespaces, err), "raise /proc/sys/user/max_*_namespaces"}
	case starts && is(syscall.EPERM, syscall.EINVAL):
		return &fixable{fmt.Errorf("%w: %w", ErrNoNamespaces, err),
			"inside a container, start it with --security-opt seccomp=unconfined --security-opt systempaths=unconfined, or --privileged"}
	case at.Op != "" && is(syscall.EACCES): // it makes files in the folder of the runs alone
		return &fixable{fmt.Errorf("%w; a run by root runs as nobody", err), "point TMPDIR at a folder that everybody can enter"}
	}
	return err
}
