package dlmtest

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/cmd/cli"
	"github.com/dlmtest/dlmtest/internal/visible"
	"github.com/dlmtest/dlmtest/locks/libraries"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/runner/gate"
)

// one lets one Test run at a time: runs side by side would starve each other.
var one sync.Mutex

// Test runs scenarios against a lock and fails t where a property is not as expected. Each
// property must hold unless an option says otherwise ([KnownWeakness], [MustDetect]).
// What was not put to the test is never green: an inconclusive run fails t as well, and
// says that it is inconclusive, and so does a failure of dlmtest itself.
//
// A run takes 5 to 30 s. It does not skip itself under -short: a test that should says so.
// Tests that call Test from parallel tests take turns. It ends in time for the deadline of
// t, which then fails with what was not run; when the process is interrupted or killed,
// nothing of a run is left.
//
// The folder of a run that failed is kept, and named, with its report; go test -artifacts
// keeps those of all tests. The environment variable DLMTEST_SEED is laid over the seed,
// and DLMTEST_RUNTIME over the runtime.
func Test(t *testing.T, lock Lock, options ...Option) {
	t.Helper()
	if _, known := libraries.Table[lock.Name]; !known || !ready.Load() {
		t.Fatalf(missing, lock.Name)
	}
	one.Lock()
	defer one.Unlock()
	a, err := newAttempt(t, lock, options)
	if err != nil {
		t.Fatalf("dlmtest: %v", err)
	}
	if deadline, ok := t.Deadline(); ok {
		a.spec.Budget = time.Until(deadline)
	}
	a.run()
}

// attempt is one call of Test.
type attempt struct {
	testing.TB
	asked
	spec gate.Spec
}

func newAttempt(t testing.TB, lock Lock, options []Option) (*attempt, error) {
	a := &attempt{TB: t, asked: asked{lock: lock, flags: map[string]string{}, expect: map[string]gate.Expectation{}, count: 1, runtime: "auto"}}
	for _, option := range options {
		option(&a.asked)
	}
	if err := a.environment(); err != nil {
		return nil, err
	}
	config, err := a.config(t.Name())
	if err != nil {
		return nil, err
	}
	out, err := a.folder()
	if err != nil {
		return nil, err
	}
	a.seed = cmp.Or(a.seed, uint64(time.Now().UnixNano()%1e9)+1)
	a.spec, err = cli.Gate(t.Context(), config, cli.GateOptions{Seed: a.seed, Runtime: a.runtime, Out: out, Version: ownVersion(),
		Repeat: func(o runner.Options) []string { return a.repeat(o.Seed) }})
	return a, err
}

// run runs what was asked for and says what it showed.
func (a *attempt) run() {
	a.Helper()
	dir, r, err := gate.Run(a.Context(), a.spec, watcher{a.TB})
	if dir == "" {
		a.Fatalf("dlmtest failed, which says nothing about %s: %v", a.lock.Name, err)
	}
	a.tell(dir, r)
	if err != nil {
		a.Error(visible.Text(fmt.Sprintf("dlmtest failed, which says nothing about %s: %v", a.lock.Name, err)))
	}
}

// environment is laid over the options: a failure is repeated without a change of code.
func (a *asked) environment() error {
	a.runtime = cmp.Or(os.Getenv("DLMTEST_RUNTIME"), a.runtime)
	if text := os.Getenv("DLMTEST_SEED"); text != "" {
		seed, err := strconv.ParseUint(text, 10, 63)
		if err != nil || seed == 0 {
			return fmt.Errorf("DLMTEST_SEED %q: want a whole number from 1", text)
		}
		a.seed = seed
	}
	return nil
}

// repeat is the command that makes one run of this test again.
func (a *attempt) repeat(seed uint64) []string {
	var parts []string
	for _, part := range strings.Split(a.Name(), "/") {
		parts = append(parts, "^"+part+"$")
	}
	return []string{fmt.Sprintf("DLMTEST_SEED=%d", seed), "go", "test", "-count=1", "-run", strings.Join(parts, "/"), "."}
}

// folder is where the runs go: what go test keeps, or a folder that is kept if t fails.
func (a *attempt) folder() (string, error) {
	if f := flag.Lookup("test.artifacts"); f != nil && f.Value.String() == "true" {
		return a.ArtifactDir(), nil
	}
	dir, err := os.MkdirTemp("", "dlmtest-"+strings.ReplaceAll(a.Name(), string(filepath.Separator), "-")+"-*")
	if err != nil {
		return "", err
	}
	a.Cleanup(func() {
		if !a.Failed() {
			_ = os.RemoveAll(dir)
		}
	})
	return dir, nil
}
