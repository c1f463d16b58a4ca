package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/dlmtest/dlmtest/internal/visible"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/runner/matrix"
)

// status is the last line of a terminal while a matrix runs: how many are done,
// what runs now, how long so far and how long still. Elsewhere it is silent.
type status struct {
	out   io.Writer
	drawn bool // there is a terminal to draw on
	stop  chan struct{}
	over  sync.WaitGroup

	mu    sync.Mutex
	begun time.Time
	state matrix.State
	now   []*running
}

// running is one run as the status line shows it.
type running struct {
	runner.Progress // silent, but for Phase
	of              *status
	cell, phase     string
}

func newStatus(out io.Writer, drawn bool) *status {
	return &status{out: out, drawn: drawn, stop: make(chan struct{})}
}

// begin draws the line twice a second from now on.
func (s *status) begin(runs int) {
	s.begun, s.state.Total = time.Now(), runs
	if !s.drawn {
		return
	}
	s.over.Go(func() {
		tick := time.NewTicker(time.Second / 2)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				s.aside(func() {})
			case <-s.stop:
				return
			}
		}
	})
}

// run adds a run to the line.
func (s *status) run(cell string) runner.Progress {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &running{Progress: quiet{}, of: s, cell: cell}
	s.now = append(s.now, r)
	return r
}

// Phase implements runner.Progress.
func (r *running) Phase(text string) {
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	r.phase = text
}

// ended takes one run of a cell off the line.
func (s *status) ended(state matrix.State, cell string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = state
	for i, r := range s.now {
		if r.cell == cell {
			s.now = append(s.now[:i], s.now[i+1:]...)
			return
		}
	}
}

// aside prints something above the line.
func (s *status) aside(print func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.drawn {
		print()
		return
	}
	fmt.Fprint(s.out, "\r\x1b[K")
	print()
	fmt.Fprint(s.out, s.line(columns()))
}

// line is the status in so many columns.
func (s *status) line(width int) string {
	text := fmt.Sprintf("%d of %d done, %v", s.state.Done, s.state.Total, time.Since(s.begun).Round(time.Second))
	if s.state.Left > 0 {
		text += fmt.Sprintf(", about %v left", s.state.Left.Round(time.Second))
	}
	for _, r := range s.now {
		text += " | " + visible.Line(strings.TrimSuffix(r.cell+": "+r.phase, ": "))
	}
	for utf8.RuneCountInString(text) >= width {
		_, last := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-last]
	}
	return text
}

// end takes the line away.
func (s *status) end() {
	close(s.stop)
	s.over.Wait()
	if s.drawn {
		fmt.Fprint(s.out, "\r\x1b[K")
	}
}
