package runner

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// notUp says why a cluster did not come up. What an agent blames an adapter for, as it ends it, comes first: to
// its worker it is one that was killed.
func notUp(blamed, err error) error {
	if blamed != nil && !strings.Contains(err.Error(), blamed.Error()) {
		return fmt.Errorf("the cluster did not come up: %w; %w", blamed, err)
	}
	return fmt.Errorf("the cluster did not come up: %w", err)
}

// explain adds the last log lines of the servers, and of a client that the error is
// about: one that did not come up says there why.
func (s *stage) explain(err error) error {
	var b strings.Builder
	about := &nodeError{}
	_ = errors.As(err, &about) // else it is about none
	for _, n := range append(append([]*node{}, s.servers...), s.resource) {
		select {
		case e := <-n.exits:
			fmt.Fprintf(&b, "\n%s has ended (%s).", n.Name(), e.Reason)
		default:
			if about.node != n {
				continue
			}
		}
		fmt.Fprintf(&b, " Its last log lines:\n  %s", strings.Join(n.lastWords(), "\n  "))
	}
	for _, n := range s.clients { // the lock's own code runs there; what its worker said of it stands in err
		if words := n.lastWords(); len(words) > 0 && about.node == n && about.ended {
			fmt.Fprintf(&b, " Its last log lines:\n  %s", strings.Join(words, "\n  "))
		}
	}
	if b.Len() == 0 {
		return fmt.Errorf("%w; logs are in %s", err, filepath.Join(s.dir, logsDir))
	}
	return fmt.Errorf("%w%s", err, b.String())
}
