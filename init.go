package dlmtest

import (
	"fmt"
	"os"
	"sync/atomic"

	"github.com/dlmtest/dlmtest/cmd/cli"
	"github.com/dlmtest/dlmtest/internal/visible"
)

// ready says that Init was called.
var ready atomic.Bool

// Init makes a test binary every program of a run: the agents of nodes, the clients that
// use the locks, the guarded resource. Call it first in TestMain, with all locks of the
// package's tests:
//
//	func TestMain(m *testing.M) {
//		dlmtest.Init(lock)
//		m.Run()
//	}
//
// Where the process is such a program, Init does not return, so nothing that stands after
// it happens in nodes.
func Init(locks ...Lock) {
	if err := register(locks...); err != nil {
		fmt.Fprintln(visible.Console(os.Stderr), "dlmtest.Init:", err)
		os.Exit(64)
	}
	ready.Store(true)
	if cli.Inside(os.Args) {
		os.Exit(cli.Main(ownVersion()))
	}
}

// missing is what to write where Init was not called with a lock.
const missing = `dlmtest: this test binary has to be the nodes' program as well, and Init was not called with the lock %q.
Write in one _test.go file of the package, or add the call to the TestMain that is there:

	func TestMain(m *testing.M) {
		dlmtest.Init(lock)
		m.Run()
	}`
