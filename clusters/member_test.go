package clusters

import (
	"slices"
	"testing"
)

// An image cannot tell the agent how to keep its child apart: what is said here stands
// before what an image says.
func TestContainerSaysHowToSeal(t *testing.T) {
	if env := config(NodeSpec{Name: "client-1", Guest: true}, nil).Env; !slices.Contains(env, "DLMTEST_SEAL=users") {
		t.Errorf("%q", env)
	}
}
