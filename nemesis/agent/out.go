package agent

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// memoryMax is how many bytes wait in memory for a slow reader before the rest
// goes to a file; fileMax bounds that file. Past it lines are dropped, counted,
// and the run is inconclusive.
const (
	memoryMax = 32 << 20
	fileMax   = 1 << 30
)

// out is a queue of lines that never makes its writer wait for its reader: a
// full pipe must not slow the worker that is being measured.
type out struct {
	mu      sync.Mutex
	ready   sync.Cond
	queued  []byte   // lines
	spill   *os.File // lines after those in memory, in order; nil: none
	spilled int64
	read    *bufio.Reader
	lost    int
	ops     int  // records that were queued, or lost
	over    bool // no more records are taken
	closed  bool
	done    chan struct{}
}

// newOut starts to pass lines on to w.
func newOut(w io.Writer) *out {
	o := &out{done: make(chan struct{})}
	o.ready.L = &o.mu
	go o.drain(w)
	return o
}

// send queues one message.
func (o *out) send(m Message) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sendLocked(m)
}

func (o *out) sendLocked(m Message) {
	line, err := json.Marshal(m)
	if err != nil {
		line, _ = json.Marshal(Message{Error: "agent: " + err.Error()})
	}
	if m.Op != nil && !o.counts() {
		return
	}
	o.queue(line)
}

// pass queues the message of a record that is written already. It keeps nothing of line.
func (o *out) pass(line []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.counts() {
		o.queue(line)
	}
}

// counts counts a record; false: they have ended.
func (o *out) counts() bool {
	if !o.over {
		o.ops++
	}
	return !o.over
}

// end answers m with the number of all records, and takes no more.
func (o *out) end(m Message, missing Ended) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.over = true
	missing.Ops += o.ops
	m.End = &missing
	o.sendLocked(m)
}

// anew answers m, and takes records again from then on.
func (o *out) anew(m Message) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.over, o.ops = false, 0
	o.sendLocked(m)
}

// queue takes a line. o.mu is held.
func (o *out) queue(line []byte) {
	switch {
	case o.closed:
	case o.spill == nil && len(o.queued)+len(line) < memoryMax:
		o.tellLost() // before what is newer
		o.queued = append(append(o.queued, line...), '\n')
	default:
		o.toFile(append(slices.Clone(line), '\n'))
	}
	o.ready.Signal()
}

// toFile appends line to the spill file, which it makes at need.
func (o *out) toFile(line []byte) {
	if o.spill == nil {
		f, err := nameless()
		if err != nil {
			o.lost++
			return
		}
		o.spill, o.spilled, o.read = f, 0, bufio.NewReader(io.NewSectionReader(f, 0, fileMax))
	}
	if o.spilled+int64(len(line)) > fileMax {
		o.lost++
		return
	}
	n, err := o.spill.WriteAt(line, o.spilled)
	if err != nil {
		o.lost++ // what was written of it is overwritten by the next
		return
	}
	o.spilled += int64(n)
}

// nameless is a file that nobody else can open: the child may have the agent's user id, and
// what waits there is evidence.
func nameless() (*os.File, error) {
	fd, err := unix.Open(os.TempDir(), unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC|unix.O_EXCL, 0o600)
	if err != nil { // not every file system has it
		fd, err = unix.MemfdCreate("dlmtest-spill", unix.MFD_CLOEXEC)
	}
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "spill"), nil
}

// drain writes what is queued, oldest first, until the queue is closed and empty.
func (o *out) drain(w io.Writer) {
	defer close(o.done)
	var batch []byte
	for {
		o.mu.Lock()
		for len(o.queued) == 0 && o.spill == nil && !o.closed && o.lost == 0 {
			o.ready.Wait()
		}
		batch = o.take(batch[:0])
		finished := len(batch) == 0 && o.closed
		o.mu.Unlock()
		if finished {
			return
		}
		if _, err := w.Write(batch); err != nil {
			return // the runner is gone; the agent sees EOF on its stdin
		}
	}
}

// take returns the next lines; none when there are none. What is written of the last
// ones takes the place of those in memory. o.mu is held.
func (o *out) take(written []byte) []byte {
	if len(o.queued) > 0 {
		batch := o.queued
		o.queued = written
		return batch
	}
	if o.spill != nil {
		if line, err := o.read.ReadBytes('\n'); err == nil {
			return line
		}
		_ = o.spill.Close()
		o.spill, o.read = nil, nil
	}
	o.tellLost()
	batch := o.queued
	o.queued = written
	return batch
}

// tellLost queues how many lines were lost, if any. o.mu is held.
func (o *out) tellLost() {
	if o.lost > 0 {
		line, _ := json.Marshal(Message{Lost: o.lost})
		o.queued, o.lost = append(append(o.queued, line...), '\n'), 0
	}
}

// close passes on what is queued and ends.
func (o *out) close() {
	o.mu.Lock()
	o.closed = true
	o.ready.Signal()
	o.mu.Unlock()
	<-o.done
}
