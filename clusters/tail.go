package clusters

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

const (
	tailSize  = 256 << 10 // bytes of stderr kept for a reader
	tailLines = 10        // shown in an Exit
)

// tail is a pipe whose writer never waits: what nobody reads in time is dropped,
// oldest first. Beside it, it keeps the newest lines.
type tail struct {
	mu     sync.Mutex
	wake   sync.Cond
	unread bytes.Buffer
	newest []byte
	closed bool
}

func newTail() *tail {
	t := &tail{}
	t.wake.L = &t.mu
	return t
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.unread.Write(p)
	if over := t.unread.Len() - tailSize; over > 0 {
		t.unread.Next(over)
	}
	t.newest = append(t.newest, p...)
	if over := len(t.newest) - 4096; over > 0 {
		t.newest = append([]byte{}, t.newest[over:]...)
	}
	t.wake.Broadcast()
	return len(p), nil
}

func (t *tail) Read(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.unread.Len() == 0 {
		if t.closed {
			return 0, io.EOF
		}
		t.wake.Wait()
	}
	return t.unread.Read(p)
}

func (t *tail) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	t.wake.Broadcast()
	return nil
}

// lines are the last ones written.
func (t *tail) lines() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return lastLines(string(t.newest), tailLines)
}

func lastLines(text string, n int) string {
	all := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(all[max(0, len(all)-n):], "\n")
}
