package smalllock_test

import (
	"testing"

	"github.com/dlmtest/dlmtest"

	"example.com/smalllock/undertest"
)

func TestMain(m *testing.M) {
	dlmtest.Init(undertest.Lock) // this test binary is the nodes' program as well
	m.Run()
}

// Nothing breaks: everything holds.
func TestBaseline(t *testing.T) {
	run(t, dlmtest.Scenario("baseline"))
}

// A holder is stopped past its lease and wakes up with a write in hand. It acts on a lock
// that is no longer its own, which no lease can prevent, and the token saves the fenced
// copy: everything else must hold.
func TestPause(t *testing.T) {
	run(t, dlmtest.Scenario("gc-pause"),
		dlmtest.KnownWeakness("mutual-exclusion", "a stopped client wakes up after its lease and acts", "README.md#fencing"),
		dlmtest.KnownWeakness("no-lost-update/unfenced", "so a write without the token is lost", "README.md#fencing"))
}

func run(t *testing.T, options ...dlmtest.Option) {
	t.Helper()
	if testing.Short() {
		t.Skip("a run takes seconds")
	}
	dlmtest.Test(t, undertest.Lock, append(options, dlmtest.Runtime("local"), dlmtest.Flag("lease", "2s"))...)
}
