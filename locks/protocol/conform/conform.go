// Package conform asks an adapter, in plain words, whether it keeps the lock client
// protocol: what a run would call the adapter's fault, and what only shows when somebody
// looks for it.
package conform

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/locks/protocol"
)

// Finding is one check that failed.
type Finding struct {
	Check   string `json:"check"`
	Problem string `json:"problem"`         // what was seen
	Todo    string `json:"todo,omitempty"`  // what to do about it, where that is known
	About   string `json:"about,omitempty"` // what the check does and wants, else
}

// Check is one named demand on an adapter.
type Check struct {
	Name, About string
	// needs is what must be offered for it to be asked; "": nothing.
	needs string
	run   func(*suite) error
}

// suite is one check in progress.
type suite struct {
	ctx   context.Context
	cmd   protocol.Command
	cfg   locks.Config
	key   string
	conns []*protocol.Conn
	ears  map[*protocol.Conn]*ear
	links links
	heard *heard
}

// heard is what was wrong with the events of all adapters so far.
type heard struct{ wrong []string }

func (h *heard) add(wrong []string) {
	for _, w := range wrong {
		if !slices.Contains(h.wrong, w) {
			h.wrong = append(h.wrong, w)
		}
	}
}

// notAsked is why a check could not be made: it says nothing about the adapter.
type notAsked string

func (n notAsked) Error() string { return string(n) }

// Report is what was found.
type Report struct {
	Findings []Finding
	Hello    protocol.Result // what the adapter said of itself
	Asked    int             // how many checks were made
	NotAsked []NotAsked
}

// NotAsked is a check that is due, and could not be made here.
type NotAsked struct {
	Check string `json:"check"`
	Why   string `json:"why"`
}

// checkLimit is how long one check may take, over the limits of single answers.
const checkLimit = time.Minute + 30*time.Second

// Run runs all checks, each with adapters and a key of its own. An adapter that cannot
// say hello, or get a free key, is asked no more.
func Run(ctx context.Context, cmd protocol.Command, c locks.Config) (r Report) {
	all := &heard{}
	for _, check := range Checks {
		s := &suite{cmd: cmd, cfg: c, key: fmt.Sprintf("conform-%s-%d", check.Name, time.Now().UnixNano()), ears: map[*protocol.Conn]*ear{}, heard: all}
		if check.needs != "" && !offered(r.Hello, check.needs) {
			continue
		}
		err := s.one(ctx, check)
		var not notAsked
		if errors.As(err, &not) {
			r.NotAsked = append(r.NotAsked, NotAsked{check.Name, string(not)})
			continue
		}
		r.Asked++
		if err != nil {
			r.Findings = append(r.Findings, finding(check, err))
		}
		if len(s.conns) > 0 && r.Hello.Name == "" {
			r.Hello = s.conns[0].Hello()
		}
		var refused *protocol.Refusal
		if err != nil && (check.Name == "hello" || check.Name == "open" || check.Name == "round-trip" &&
			errors.As(err, &refused) && refused.Do == protocol.DoAcquire) {
			break
		}
	}
	return r
}

func (s *suite) one(ctx context.Context, check Check) (err error) {
	var cancel context.CancelFunc
	s.ctx, cancel = context.WithTimeout(ctx, checkLimit+12*s.cfg.Lease)
	defer cancel()
	defer func() {
		for _, c := range s.conns {
			closed := s.close(c)
			if err == nil {
				err = closed
			}
		}
		for _, l := range s.links {
			l.close()
		}
	}()
	return check.run(s)
}

func finding(check Check, err error) Finding {
	var f *protocol.Fault
	if errors.As(err, &f) {
		problem := f.Detail
		if f.Last != "" {
			problem += " (its last words on stderr: " + f.Last + ")"
		}
		return Finding{Check: check.Name, Problem: problem, Todo: protocol.Advice[f.Kind]}
	}
	return Finding{Check: check.Name, Problem: err.Error(), About: check.About}
}

func offered(h protocol.Result, name string) bool {
	for _, o := range h.Offers {
		if o == name {
			return true
		}
	}
	return false
}

// dial starts one more adapter.
func (s *suite) dial() (*protocol.Conn, error) {
	e := newEar()
	c, err := protocol.Dial(s.ctx, s.cmd, e.hear)
	if err == nil {
		s.ears[c] = e
		s.conns = append(s.conns, c)
	}
	return c, err
}

// open starts one more adapter and opens its session.
func (s *suite) open() (*protocol.Conn, error) {
	return s.openWith(s.cfg)
}

func (s *suite) openWith(cfg locks.Config) (*protocol.Conn, error) {
	c, err := s.dial()
	if err != nil {
		return nil, err
	}
	r := protocol.Request{Do: protocol.DoOpen, Endpoints: cfg.Endpoints, Ways: cfg.Ways, Lease: cfg.Lease.Milliseconds(),
		Client: fmt.Sprintf("conform-%d", len(s.conns)), Seed: 1}
	_, err = c.Ask(s.ctx, r, answerLimit)
	return c, err
}

// close ends one; what it tells of that is no event of its lock.
func (s *suite) close(c *protocol.Conn) error {
	s.heard.add(s.ears[c].stop())
	return c.Close()
}

func (s *suite) two() (a, b *protocol.Conn, err error) {
	if a, err = s.open(); err == nil {
		b, err = s.open()
	}
	return a, b, err
}

// answerLimit is how long a request may take that has nothing to wait for.
const answerLimit = 15 * time.Second

// acquire waits for the check's key.
func (s *suite) acquire(c *protocol.Conn, wait time.Duration) (*protocol.Result, error) {
	return s.ask(c, protocol.Request{Mode: protocol.Exclusive}, wait)
}

// ask waits for the check's key in the way of r.
func (s *suite) ask(c *protocol.Conn, r protocol.Request, wait time.Duration) (*protocol.Result, error) {
	r.Do, r.Key, r.Wait = protocol.DoAcquire, s.key, wait.Milliseconds()
	return c.Ask(s.ctx, r, wait+answerLimit)
}

func (s *suite) release(c *protocol.Conn, grant string) error {
	_, err := c.Ask(s.ctx, protocol.Request{Do: protocol.DoRelease, Grant: grant}, answerLimit)
	return err
}

// refused wants an answer that is an error of this code, or of the one that says more.
func refused(err error, what string, code protocol.Code) error {
	var r *protocol.Refusal
	var f *protocol.Fault
	switch {
	case errors.As(err, &f):
		return err
	case errors.As(err, &r) && (r.Code == code || code == protocol.NotGranted && r.Code == protocol.Held):
		return nil
	case err == nil:
		return fmt.Errorf("%s was answered with ok, not with the error %s", what, code)
	}
	return fmt.Errorf("%s was answered with %s, not with the error %s", what, fmt.Sprint(err), code)
}
