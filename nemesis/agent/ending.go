package agent

import (
	"sync"
	"sync/atomic"
)

// tally compares what a child says that it has recorded with what of it could be read. A
// program may print into its own records, and break a line.
type tally struct {
	came    int          // so far; the reader's alone
	broken  atomic.Int64 // lines that had an operation in them, and something else
	missing int          // set before over is closed
	over    chan struct{}
	once    sync.Once
}

// end takes the child's word.
func (t *tally) end(said int) { t.once.Do(func() { t.missing = said - t.came; close(t.over) }) }

// and adds what is missing of the records of a child: they are over, or it has ended.
func (e Ended) and(c *child) Ended {
	if c == nil || !c.spec.Speaks {
		return e
	}
	select {
	case <-c.records.over:
		e.Ops += c.records.missing
	default:
		e.Open = e.Open || !c.killed.Load() // what was killed had written each line before it went on
		e.Ops += int(c.records.broken.Load())
	}
	return e
}

// endRecords has the child end its records, if that lives, and answers m with the number
// of all of this node. It waits for as long as that takes.
func (a *agent) endRecords(m Message) {
	a.mu.Lock()
	c := a.child
	a.mu.Unlock()
	if c != nil && c.spec.Speaks {
		_ = a.order(Order{End: true}) // one that has ended needs none
		select {
		case <-c.records.over:
		case <-c.ended:
		}
	}
	a.beats.look()
	a.mu.Lock()
	missing := a.former.and(c)
	missing.Passed = a.passed()
	a.mu.Unlock()
	a.out.end(m, missing)
}
