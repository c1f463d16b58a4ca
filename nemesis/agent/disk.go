package agent

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/nemesis/agent/lossy"
	"github.com/dlmtest/dlmtest/nemesis/agent/seal"
)

// disk is the process that serves the child's data folder.
type disk struct {
	in     io.WriteCloser
	syncs  *os.File // takes the listener of a program's sync and syncfs
	out    *bufio.Reader
	limit  func(time.Time) error // ends a read of out
	last   int
	broken error // an answer did not come: what is read from now on may be a late one
}

// diskLimit is how long the file system may take to answer. A crash ends the mount,
// which takes some seconds when somebody still uses it.
var diskLimit = 15 * time.Second

// startDisk puts a lossy file system over dir, with what is in it.
func startDisk(dir string, seed uint64) (*disk, error) {
	if err := dataFolder(dir); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	ours, its := os.NewFile(uintptr(pair[0]), "listeners"), os.NewFile(uintptr(pair[1]), "listeners")
	defer its.Close() // it has its own
	cmd := exec.Command(self, "fs", "--backing", dir, "--mount", dir, "--seed", fmt.Sprint(seed), "--listeners", "3")
	cmd.Stderr, cmd.ExtraFiles = os.Stderr, []*os.File{its}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := start(cmd, cmd.Start); err != nil {
		return nil, fmt.Errorf("the file system under %s: %w", dir, err)
	}
	d := &disk{in: in, syncs: ours, out: bufio.NewReader(out), limit: out.(*os.File).SetReadDeadline} // os/exec says that it is one
	e, err := d.next(0)
	if err == nil && !e.Ready {
		err = errors.New(e.Error)
	}
	if err != nil {
		return nil, fmt.Errorf("the file system under %s: %w", dir, err)
	}
	return d, nil
}

// dataFolder refuses what is no folder of a server's data: the file system may do more there than
// its program.
func dataFolder(dir string) error {
	real, err := seal.Follow(dir, func(path string) (string, bool) {
		to, err := os.Readlink(path)
		return to, err == nil
	})
	if err == nil && seal.Kept(real) {
		err = fmt.Errorf("%s leads to %s, which is no folder of a server's data", dir, real)
	}
	return err
}

// do has the file system carry out one command.
func (d *disk) do(c lossy.Command) (lossy.Event, error) {
	if d.broken != nil {
		return lossy.Event{}, d.broken
	}
	d.last++
	c.ID = d.last
	line, err := json.Marshal(c)
	if err != nil {
		return lossy.Event{}, err
	}
	if _, err := d.in.Write(append(line, '\n')); err != nil {
		return lossy.Event{}, fmt.Errorf("the file system: %w", err)
	}
	e, err := d.next(c.ID)
	if err == nil && e.Error != "" {
		err = errors.New(e.Error)
	}
	return e, err
}

// next reads up to the answer to a command; what is said between is of no use here.
func (d *disk) next(id int) (lossy.Event, error) {
	if err := d.limit(time.Now().Add(diskLimit)); err != nil {
		return lossy.Event{}, err
	}
	for {
		line, err := d.out.ReadBytes('\n')
		if err != nil {
			d.broken = fmt.Errorf("the file system has ended: %w", err)
			if errors.Is(err, os.ErrDeadlineExceeded) {
				d.broken = fmt.Errorf("the file system has not answered for %v", diskLimit)
			}
			return lossy.Event{}, d.broken
		}
		var e lossy.Event
		if err := json.Unmarshal(line, &e); err != nil {
			return lossy.Event{}, fmt.Errorf("the file system said %q: %w", line, err)
		}
		if e.Re == id && e.Held == nil {
			return e, nil
		}
	}
}

// crash is a machine without power: its program is killed, and what had not
// reached the disk is lost. At the heal the disk is there again, and the program
// is started.
type crash struct {
	*kill
	mode lossy.Mode
	loss lossy.Loss
}

func injectCrash(a *agent, s *active) (fault, error) {
	if a.disk == nil {
		return nil, errors.New("crash: the node's data folder was not put on the lossy file system")
	}
	f, err := injectKill(a, s)
	if f == nil {
		return nil, err
	}
	c := &crash{kill: f.(*kill), mode: s.arm.Mode}
	if err != nil || s.arm.Lie {
		return c, err
	}
	e, err := a.disk.do(lossy.Command{Do: lossy.CrashNow, Mode: c.mode})
	if e.Loss != nil {
		c.loss = *e.Loss
	}
	return c, err
}

func (c *crash) prove() (string, bool) {
	text, gone := c.kill.prove()
	l := c.loss
	return fmt.Sprintf("%s; lost with it: %d bytes of %d writes in %d files, %d entries of folders %v",
		text, l.Bytes, l.Writes, l.Files, l.Entries, l.Names), gone
}

func (c *crash) heal() (string, error) {
	if c.lie {
		return "", nil
	}
	if _, err := c.agent.disk.do(lossy.Command{Do: lossy.ServeAgain}); err != nil {
		return "", err
	}
	return c.kill.heal()
}

// diskStall is a disk whose fsync does not return.
type diskStall struct {
	agent *agent
	lie   bool
	none  bool // no call was made while it stood, or only as it ended
	until int64
}

func injectDiskStall(a *agent, s *active) (fault, error) {
	if a.disk == nil {
		return nil, errors.New("disk-stall: the node's data folder was not put on the lossy file system")
	}
	if s.arm.Lie {
		return &diskStall{agent: a, lie: true}, nil
	}
	_, err := a.disk.do(lossy.Command{Do: lossy.StallNow})
	return &diskStall{agent: a}, err
}

// prove ends the stall: the time for which the victim's own calls stood is known
// only then.
func (d *diskStall) prove() (string, bool) {
	d.until = history.Raw()
	e, err := d.agent.disk.do(lossy.Command{Do: lossy.ResumeNow})
	if err != nil || e.Stalled == nil {
		return fmt.Sprintf("the file system does not tell: %v", err), false
	}
	stood := d.weigh(*e.Stalled)
	return fmt.Sprintf("%d calls of fsync stood, the longest for %.3f s", e.Stalled.Calls, e.Stalled.Longest.Seconds()), stood
}

// weigh says whether calls stood for long enough to show the stall. A call stands until the end, so where the longest stood
// for less, the first of them came as the stall ended.
func (d *diskStall) weigh(s lossy.Stalled) bool {
	stood := s.Longest > 10*time.Millisecond
	d.none = !stood && !d.lie
	return stood
}

// idle: the victim wrote nothing meanwhile, so nothing could stand.
func (d *diskStall) idle() bool { return d.none }

func (d *diskStall) heal() (string, error) { return "", nil }

// over is when the stall ended: its proof ends it.
func (d *diskStall) over() int64 { return d.until }
