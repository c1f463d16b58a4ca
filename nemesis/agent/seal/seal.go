// Package seal starts programs that dlmtest did not write so that they cannot touch the
// machine, the node that they run in, or the processes that observe them.
//
// A sealed program has no capability and can get none (no_new_privs, an empty bounding set,
// a seccomp filter over what makes namespaces, mounts and traces). It cannot signal, trace
// or read the process that started it: in Docker it has another user id, and where one id is
// all that there is, in the runtime local, it has user, mount and process namespaces of its
// own. The user namespace locks the mounts that it sees.
//
// All of this is done by the program's own first process, before its exec: this binary,
// called by the name of Helper. Go can set some of it between fork and exec, but neither
// mounts nor limits nor a filter, and what is set on a thread beforehand would bind the
// thread that traces the program.
package seal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Way is how a program is kept apart from who starts it.
type Way string

// The ways.
const (
	Open       Way = ""           // not at all: where there is no node
	Users      Way = "users"      // by its user id: in a container
	Namespaces Way = "namespaces" // by namespaces: where all processes have one user id
)

// Variable tells a node's agent, and a worker that starts adapters, how to keep apart what
// they start. No other program gets it.
const Variable = "DLMTEST_SEAL"

// Orders say how to seal one program.
type Orders struct {
	Way      Way
	UID, GID int    // Users: who it is
	Keep     []int  // Users: capabilities that it keeps
	Starts   bool   // it seals programs of its own, in the same way
	Dies     bool   // it is killed when the thread that starts it ends
	Counted  bool   // it gets no memory but its processes' own: nobody would count what outlives a mapping
	Reaper   bool   // Namespaces: another process is the first, see reap
	Limits   Limits //
	// Syncs is a socket that gets the listener of the program's sync and syncfs, see seccomp_unotify(2), where the kernel has
	// such; nil: they are the kernel's.
	Syncs *os.File `json:"-"`
}

// letter is what the helper is told.
type letter struct {
	Orders
	Notify int // descriptor of the socket of Syncs; 0: none
	Error  int // descriptor for what goes wrong; its end is the exec
	Env    int // descriptor from which the program's environment is read
	Parent int // who starts it, in the helper's eyes: 0 outside of its process namespace
	Path   string
}

// Helper is the name by which this binary becomes the helper.
const Helper = "dlmtest-seal"

// Here is how this process is to keep apart what it starts, which is said by Variable. The
// variable is removed.
func Here() Way {
	way := Way(os.Getenv(Variable))
	_ = os.Unsetenv(Variable) // its name is valid
	return way
}

// Start starts cmd, sealed, by calling start, and returns when the program itself runs:
// an error of its exec is returned as of cmd.Start. start is cmd.Start, or does more.
func (o Orders) Start(cmd *exec.Cmd, start func() error) error {
	if o.Way == Open || cmd.Err != nil {
		return start()
	}
	if o.Way != Users && o.Way != Namespaces {
		return fmt.Errorf("seal the program: no way %q is known", o.Way) // an image may set Variable
	}
	said, err := o.prepare(cmd)
	if err != nil {
		return err
	}
	defer said.r.Close()
	go said.tell() // a pipe does not take all at once
	err = start()
	_, _ = said.w.Close(), said.envR.Close() // the helper has its own
	if err != nil {
		return err
	}
	text, err := io.ReadAll(said.r)
	if len(text) > 0 {
		err = errors.New(string(text))
	}
	return err
}

// pipes lead from and to the helper.
type pipes struct {
	r, w       *os.File // what goes wrong
	envR, envW *os.File
	env        []string
}

func newPipes() (p pipes, err error) {
	if p.r, p.w, err = os.Pipe(); err != nil {
		return p, err
	}
	if p.envR, p.envW, err = os.Pipe(); err != nil {
		err = errors.Join(err, p.r.Close(), p.w.Close())
	}
	return p, err
}

func (p pipes) close() error {
	return errors.Join(p.r.Close(), p.w.Close(), p.envR.Close(), p.envW.Close())
}

// prepare makes cmd a call of the helper. The link leads to this binary wherever it lies,
// for whoever may execute it.
func (o Orders) prepare(cmd *exec.Cmd) (said pipes, err error) {
	if said, err = newPipes(); err != nil {
		return said, err
	}
	l := letter{Orders: o, Path: cmd.Path}
	if o.Syncs != nil {
		l.Notify = 3 + len(cmd.ExtraFiles)
		cmd.ExtraFiles = append(slices.Clip(cmd.ExtraFiles), o.Syncs)
	}
	l.Error = 3 + len(cmd.ExtraFiles)
	l.Env = l.Error + 1
	if o.Way == Users {
		l.Parent = os.Getpid()
	}
	text, err := json.Marshal(l)
	if err != nil {
		return said, errors.Join(err, said.close())
	}
	cmd.ExtraFiles = append(slices.Clip(cmd.ExtraFiles), said.w, said.envR)
	cmd.Path, cmd.Args = "/proc/self/exe", append([]string{Helper, string(text)}, cmd.Args...)
	said.env, cmd.Env = o.environ(cmd), []string{} // nil would be ours
	if o.Way == Namespaces {
		apart(cmd)
	}
	return said, nil
}

// environ tells a program that seals others how, and nobody else.
func (o Orders) environ(cmd *exec.Cmd) []string {
	env := slices.DeleteFunc(cmd.Environ(), func(v string) bool { return strings.HasPrefix(v, Variable+"=") })
	if o.Starts {
		env = append(env, Variable+"="+string(o.Way))
	}
	return env
}

// apart has cmd start in namespaces of its own, with what the helper needs there.
func apart(cmd *exec.Cmd) {
	attr := syscall.SysProcAttr{}
	if cmd.SysProcAttr != nil {
		attr = *cmd.SysProcAttr
	}
	attr.Credential = nil // there is but one
	attr.Cloneflags |= syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
	attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP, unix.CAP_SYS_RESOURCE}
	cmd.SysProcAttr = &attr
}

// refused says what the kernel did not let the helper do.
func refused(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("seal the program: %s: %w", what, err)
}
