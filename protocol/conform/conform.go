// Package conform asks an adapter, in plain words, whether it keeps the lock client
// protocol: what a run would call the adapter's fault, and what only shows when somebody
// looks for it.
package conform

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/protocol"
)

// Finding is one check that failed.
type Finding struct {
	Check   string `json:"check"`
	Problem string `json:"problem"` // what was seen
	Todo    string `json:"todo"`    // what to do about it
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
}

// checkLimit is how long one check may take, over the limits of single answers.
const checkLimit = time.Minute

// Run runs all checks, each with adapters and a key of its own, and returns what failed,
// what the adapter said of itself, and how many checks were asked. An adapter that cannot
// say hello, or get a free key, is asked no more.
func Run(ctx context.Context, cmd protocol.Command, c locks.Config) (findings []Finding, hello protocol.Result, asked int) {
	for _, check := range Checks {
		s := &suite{cmd: cmd, cfg: c, key: fmt.Sprintf("conform-%s-%d", check.Name, time.Now().UnixNano())}
		if check.needs != "" && !offered(hello, check.needs) {
			continue
		}
		asked++
		err := s.one(ctx, check)
		if err != nil {
			findings = append(findings, finding(check, err))
		}
		if len(s.conns) > 0 && hello.Name == "" {
			hello = s.conns[0].Hello()
		}
		var refused *protocol.Refusal
		if err != nil && (check.Name == "hello" || check.Name == "open" || check.Name == "round-trip" && errors.As(err, &refused) && refused.Do == protocol.DoAcquire) {
			break
		}
	}
	return findings, hello, asked
}

func (s *suite) one(ctx context.Context, check Check) (err error) {
	var cancel context.CancelFunc
	s.ctx, cancel = context.WithTimeout(ctx, checkLimit)
	defer cancel()
	defer func() {
		for _, c := range s.conns {
			closed := c.Close()
			if err == nil {
				err = closed
			}
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
		return Finding{check.Name, problem, protocol.Advice[f.Kind]}
	}
	return Finding{check.Name, err.Error(), check.About}
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
	c, err := protocol.Dial(s.ctx, s.cmd, func(protocol.Event) {})
	if err == nil {
		s.conns = append(s.conns, c)
	}
	return c, err
}

// open starts one more adapter and opens its session.
func (s *suite) open() (*protocol.Conn, error) {
	c, err := s.dial()
	if err != nil {
		return nil, err
	}
	r := protocol.Request{Do: protocol.DoOpen, Endpoints: s.cfg.Endpoints, Ways: s.cfg.Ways, Lease: s.cfg.Lease.Milliseconds(),
		Client: fmt.Sprintf("conform-%d", len(s.conns)), Seed: 1}
	_, err = c.Ask(s.ctx, r, answerLimit)
	return c, err
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

// refused wants an answer that is an error of this code.
func refused(err error, what string, code protocol.Code) error {
	var r *protocol.Refusal
	var f *protocol.Fault
	switch {
	case errors.As(err, &f):
		return err
	case errors.As(err, &r) && r.Code == code:
		return nil
	case err == nil:
		return fmt.Errorf("%s was answered with ok, not with the error %s", what, code)
	}
	return fmt.Errorf("%s was answered with %v, not with the error %s", what, err, code)
}
