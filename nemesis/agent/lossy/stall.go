package lossy

import (
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Stall says which calls hang, and for how long.
type Stall struct {
	For    time.Duration `json:"for,omitempty"`    // 0: until Resume
	Match  string        `json:"match,omitempty"`  // a pattern of package path, against the path from the mount or the name alone; empty: every file
	Writes bool          `json:"writes,omitempty"` // writes and truncations hang too, not fsync and fdatasync alone
}

// Held is one call that a stall held: how long its caller waited is the proof
// that the stall happened.
type Held struct {
	Path   string        `json:"path"`
	Call   string        `json:"call"`
	Pid    int           `json:"pid"` // the thread that made it, in our own pid namespace
	Waited time.Duration `json:"waited"`
	End    string        `json:"end"` // resumed, crashed, killed
}

// Stalled sums up what was held.
type Stalled struct {
	Calls   int           `json:"calls"`   // held, those that go on now among them
	Longest time.Duration `json:"longest"` // until now
}

// barrier is where calls wait during a stall. A call waits before it enters the
// volume, so that a crash need not wait for it.
type barrier struct {
	held  func(Held)
	armed atomic.Bool // there is a stall: to ask costs nothing when there is none

	mu      sync.Mutex
	stall   Stall
	release chan struct{} // closed at the end; nil: no stall
	crashed bool
	waiting map[*waiter]bool
	past    Stalled
}

type waiter struct{ since time.Time }

func (b *barrier) shut(s Stall) error {
	if _, err := path.Match(s.Match, ""); err != nil {
		return fmt.Errorf("lossy: stall %q: %w", s.Match, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stall, b.past = s, Stalled{}
	b.armed.Store(true)
	if b.release == nil {
		b.release = make(chan struct{})
	}
	if s.For > 0 {
		end := b.release
		time.AfterFunc(s.For, func() { b.openIf(end) })
	}
	return nil
}

// openIf ends the stall that end belongs to, if it is still that one.
func (b *barrier) openIf(end chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.release == end {
		b.finish()
	}
}

func (b *barrier) open() Stalled {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.finish()
	return b.past
}

// crash lets everything that waits fail, for good.
func (b *barrier) crash() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.crashed = true
	b.finish()
}

func (b *barrier) finish() {
	if b.release == nil {
		return
	}
	for w := range b.waiting {
		b.past.Calls++
		b.past.Longest = max(b.past.Longest, time.Since(w.since))
	}
	b.waiting = nil
	close(b.release)
	b.release = nil
	b.armed.Store(false)
}

// wait holds a call that the stall means. interrupted is closed when its caller
// gets a signal.
func (b *barrier) wait(call, file string, write bool, pid uint32, interrupted <-chan struct{}) syscall.Errno {
	w := &waiter{since: time.Now()}
	b.mu.Lock()
	release := b.release
	if release == nil || write && !b.stall.Writes || !b.stall.matches(file) {
		b.mu.Unlock()
		return 0
	}
	if b.waiting == nil {
		b.waiting = map[*waiter]bool{}
	}
	b.waiting[w] = true
	b.mu.Unlock()
	end, e := b.sleep(release, pid, interrupted)
	if b.held != nil {
		b.held(Held{Path: file, Call: call, Pid: int(pid), Waited: time.Since(w.since), End: end})
	}
	return e
}

// sleep waits for the end of the stall, or of the caller. An fsync on a real
// disk does not end with EINTR, and Go programs get a signal every 10 ms, so only
// a signal that kills counts.
func (b *barrier) sleep(release chan struct{}, pid uint32, interrupted <-chan struct{}) (string, syscall.Errno) {
	var poll <-chan time.Time
	for {
		select {
		case <-release:
			b.mu.Lock()
			defer b.mu.Unlock()
			if b.crashed {
				return "crashed", unix.EIO
			}
			return "resumed", 0
		case <-interrupted:
			interrupted, poll = nil, time.After(0)
		case <-poll:
			if dying(pid) {
				return "killed", unix.EINTR
			}
			poll = time.After(20 * time.Millisecond)
		}
	}
}

// everything stands for the file of a call that means all of them, which every stall holds.
const everything = "(everything)"

func (s Stall) matches(file string) bool {
	if s.Match == "" || file == everything {
		return true
	}
	whole, _ := path.Match(s.Match, file)
	name, _ := path.Match(s.Match, path.Base(file))
	return whole || name
}

// dying says whether a thread has a SIGKILL pending, or is gone. The kernel
// waits for our answer before it lets the thread die.
func dying(pid uint32) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(int(pid)) + "/status")
	if err != nil {
		return true
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		if name == "SigPnd" || name == "ShdPnd" {
			mask, _ := strconv.ParseUint(strings.TrimSpace(value), 16, 64)
			if mask&(1<<(unix.SIGKILL-1)) != 0 {
				return true
			}
		}
	}
	return false
}
