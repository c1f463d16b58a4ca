package runner

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/visible"
	"github.com/dlmtest/dlmtest/nemesis"
)

// recorder collects the history of a run: in memory for the judge, and on disk as
// it comes, so that nothing that was recorded is lost with the runner.
type recorder struct {
	feed *nemesis.Feed
	hide *strings.Replacer // of secrets, in all that nodes write; nil: there are none

	mu     sync.Mutex
	parse  func(line []byte, op *history.Op) error
	bytes  int64 // of all records that nodes wrote
	ops    []history.Op
	file   *os.File
	lines  *history.Writer
	counts Counts
	doubts []string
	blamed error // an adapter broke the protocol: the first
	err    error
}

func newRecorder(path string, setup history.Setup) (*recorder, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	// Who checks the folder sees by the lock that the run lives. It ends with this process.
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	lines, err := history.NewWriter(visible.File(f), setup)
	if err != nil {
		return nil, err
	}
	return &recorder{feed: nemesis.NewFeed(), parse: history.Parsing(), file: f, lines: lines}, nil
}

// mostRecorded is how much of a run is kept, half of what can be read again. Code under test decides how much there
// is to record, and the machine's memory is no share of its node.
const mostRecorded = history.SizeLimit / 2

// room counts a record; false: there is none for it, which is told once. r.mu is held.
func (r *recorder) room(size int) bool {
	before := r.bytes
	if r.bytes += int64(size); r.bytes > mostRecorded && before <= mostRecorded {
		r.doubts = append(r.doubts,
			fmt.Sprintf("More than %d bytes were recorded: what came after them is missing.", int64(mostRecorded)))
	}
	return r.bytes <= mostRecorded
}

// add records one operation as its node wrote it. It keeps nothing of raw.
func (r *recorder) add(node string, raw []byte) {
	op, err := r.read(raw)
	if err != nil {
		r.fail(fmt.Errorf("%s recorded %q: %w", node, raw, err))
	}
	if op.Type == "" {
		return
	}
	if op.Node == "" {
		op.Node = node
	}
	r.addOp(op)
}

// read takes a record apart; one without a type: there is no room for it.
func (r *recorder) read(raw []byte) (op history.Op, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.room(len(raw)) {
		err = r.parse(raw, &op)
	}
	if err != nil {
		op = history.Op{}
	}
	return op, err
}

func (r *recorder) addOp(op history.Op) {
	r.mu.Lock()
	r.ops = append(r.ops, op)
	r.counts.see(op)
	if op.F == history.Adapter && r.blamed == nil {
		r.blamed = fmt.Errorf("%s: %s", op.Node, op.Error)
	}
	err := r.lines.Append(op)
	r.mu.Unlock()
	if err != nil {
		r.fail(err)
	}
	r.feed.Publish(nemesis.Event{Node: op.Node, Op: &op})
}

// note records what the runner itself knows.
func (r *recorder) note(op history.Op) {
	op.Type = history.Note
	r.addOp(op)
}

func (c *Counts) see(op history.Op) {
	switch {
	case op.Type == history.Invoke:
		c.Operations++
	case op.Type == history.Info:
		c.Unknown++
	case op.Type == history.OK && (op.F == history.Acquire || op.F == history.Try):
		c.Grants++
	case op.F == history.Apply:
		c.Writes++
		if op.Fenced != nil && !op.Fenced.Accepted {
			c.Refused++
		}
	case op.Fault != nil && op.Fault.Phase == history.Begin:
		c.Faults++
	}
}

// live returns the counts so far.
func (r *recorder) live() Counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts
}

// since are the operations behind the first n that came.
func (r *recorder) since(n int) []history.Op {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.ops[n:])
}

// soFar are the operations that have come, in the order of time.
func (r *recorder) soFar() []history.Op {
	r.mu.Lock()
	ops := slices.Clone(r.ops)
	r.mu.Unlock()
	history.Sort(ops)
	return ops
}

// fail keeps the first error of dlmtest itself.
func (r *recorder) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
	}
}

func (r *recorder) doubt(why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.doubts = append(r.doubts, why)
}

// doubted are the doubts so far.
func (r *recorder) doubted() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.doubts)
}

// close writes what is buffered and returns all operations in the order of time.
func (r *recorder) close() ([]history.Op, error) {
	if err := errors.Join(r.lines.Sync(), r.file.Close()); err != nil {
		r.fail(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	history.Sort(r.ops)
	return r.ops, r.err
}

// liveEvery is how often a user is told of the counts.
const liveEvery = 100 * time.Millisecond
