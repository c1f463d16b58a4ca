package formats

import (
	"github.com/dlmtest/dlmtest/checker/models"
	"github.com/dlmtest/dlmtest/history"
)

// Some suites name the process of an operation, after the client that runs it, where others
// number it. Each name is a number here, in the order in which they come. Where nothing else
// tells owners the client is the owner, and it may go on after an operation of unknown
// outcome, as another process of the same owner; so may a client of a register, of which it
// does not matter who asks.

// clients are the processes that have names.
type clients struct {
	numbers map[string]int
	next    int
	owners  bool // they are the owners of locks
	numeric bool // some process has a number
}

// process is the number of a step's process.
func (r *Reader) process(s *step) (int, error) {
	f, c := s.process, &r.clients
	if f.kind != text && f.kind != keyword && f.kind != symbol {
		n, err := f.count("process", 1<<53)
		if c.numeric = true; err == nil && c.next > 0 {
			err = f.errorf("process %d: a number, where earlier processes have names", n)
		}
		return int(n), err
	}
	if c.numeric {
		return 0, f.errorf("process %s: a name, where earlier processes have numbers", clip(f.text))
	}
	n, known := c.numbers[f.text]
	if !known {
		if c.numbers == nil {
			c.numbers = map[string]int{}
		}
		n = c.next
		c.next++
		c.numbers[f.text] = n
	}
	return n, nil
}

// client fills in who the owner is, where that is the client.
func (r *Reader) client(e *models.Event, s *step) {
	if r.clients.next == 0 {
		return
	}
	if isLock(e.F) && r.clients.owners && e.Owner == "" {
		e.Owner = s.process.text
	}
	if e.Type == history.Info && (r.clients.owners || !isLock(e.F)) {
		delete(r.clients.numbers, s.process.text)
	}
}
