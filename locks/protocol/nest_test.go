package protocol

import (
	"errors"
	"testing"

	"github.com/dlmtest/dlmtest/locks"
)

// A thread whose holds are over, or may be while it is granted another token, has a new hold: what it was told is recorded, and not
// what dlmtest has counted.
func TestNestForgetsWhatIsOver(t *testing.T) {
	lost := errors.New("no answer in time")
	for name, c := range map[string]struct {
		release error
		again   int64 // the token of the next acquire
		depth   int
		token   int64
		owner   string
	}{
		"given back":                 {nil, 7, 2, 1, "a"}, // holds may have tokens of their own
		"not held":                   {locks.ErrNotHeld, 1, 1, 1, "b"},
		"unknown, and another token": {lost, 7, 1, 7, "b"},
		"unknown, and the same":      {lost, 1, 3, 1, "a"},
	} {
		var n nest
		outer := n.nested(&locks.Grant{Key: "k", Owner: "a", Token: 1}, "t")
		n.nested(&locks.Grant{Key: "k", Owner: "a2", Token: 1}, "t")
		if left, err := n.unnest(outer, func(*locks.Grant) error { return c.release }); !errors.Is(err, c.release) || err == nil && left != 1 {
			t.Errorf("%s: %d left, %v", name, left, err)
		}
		g := n.nested(&locks.Grant{Key: "k", Owner: "b", Token: c.again}, "t")
		if g.Depth != c.depth || g.Token != c.token || g.Owner != c.owner {
			t.Errorf("%s: depth %d, token %d of %s", name, g.Depth, g.Token, g.Owner)
		}
	}
}
