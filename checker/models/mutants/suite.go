package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// suite is the test binary of a planted package, and what its tests come by.
type suite struct {
	dir, binary string
	limit       time.Duration
	tests       []test   // the quickest first
	noticed     sync.Map // of a file, the name of the test that noticed the last mistake in it
}

type test struct {
	name string
	took time.Duration
	sees map[int]bool // mistakes by whose place it comes
}

// How many random histories a test tries at first, and where no test has noticed the
// mistake. In CI it is ten times as many.
const few, many = "300", "1000"

// brief is how long a test takes at most that is run together with others: to start
// the binary for each would take longer than they do.
const brief = 200 * time.Millisecond

func newSuite(ctx context.Context, dir, overlay, binary string, o options) (*suite, error) {
	build := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", binary, dir)
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("the planted package %s does not build: %w\n%s", dir, err, out)
	}
	s := &suite{dir: dir, binary: binary, limit: o.limit}
	not, err := regexp.Compile(o.skip)
	if err != nil {
		return nil, fmt.Errorf("-skip: %w", err)
	}
	list, err := exec.CommandContext(ctx, binary, "-test.list", "^(Test|Fuzz)").Output()
	if err != nil {
		return nil, fmt.Errorf("list the tests of %s: %w", dir, err)
	}
	for _, name := range strings.Fields(string(list)) {
		if o.skip != "" && not.MatchString(name) {
			continue
		}
		t, err := s.look(ctx, name)
		if err != nil {
			return nil, err
		}
		s.tests = append(s.tests, t)
	}
	slices.SortFunc(s.tests, func(a, b test) int { return cmp.Compare(a.took, b.took) })
	return s, nil
}

// look runs a test with no mistake made and notes what it comes by.
func (s *suite) look(ctx context.Context, name string) (test, error) {
	t := test{name: name, sees: map[int]bool{}}
	seen := filepath.Join(filepath.Dir(s.binary), "seen-"+name)
	begun := time.Now()
	out, failed, _ := s.run(ctx, s.limit, name, "MUTANT=-1", "MUTANT_SEEN="+seen, "N="+few)
	if t.took = time.Since(begun); failed {
		return t, fmt.Errorf("%s fails with no mistake made:\n%s", name, out)
	}
	data, _ := os.ReadFile(seen) // not there: it comes by nothing
	for _, line := range strings.Fields(string(data)) {
		if n, err := strconv.Atoi(line); err == nil {
			t.sees[n] = true
		}
	}
	return t, nil
}

// try runs the tests that come by a mistake, on so many random histories.
func (s *suite) try(ctx context.Context, m mistake, count string) result {
	r := result{Verdict: unreached, Tried: count}
	for _, t := range s.coming(m) {
		limit := min(s.limit, 20*time.Second+20*t.took)
		if count == many {
			limit = s.limit
		}
		if _, failed, hung := s.run(ctx, limit, t.name, fmt.Sprintf("MUTANT=%d", m.id), "N="+count); failed {
			s.noticed.Store(m.file(), t.name)
			return result{Verdict: killed, By: t.name, Hung: hung}
		}
		r.Verdict = survived
	}
	return r
}

// coming are the tests that come by a mistake: the brief ones as one, then the one
// that noticed the last mistake in the same file, which notices most of its neighbours.
func (s *suite) coming(m mistake) (all []test) {
	together := test{}
	by, _ := s.noticed.Load(m.file())
	for _, t := range s.tests {
		switch {
		case !t.sees[m.id]:
		case t.took <= brief:
			together.name, together.took = together.name+"|"+t.name, together.took+t.took
		case t.name == by:
			all = slices.Insert(all, 0, t)
		default:
			all = append(all, t)
		}
	}
	if together.name != "" {
		together.name = together.name[1:]
		all = slices.Insert(all, 0, together)
	}
	return all
}

// unchanged runs all tests once more with no mistake made. Where files that they read
// were changed meanwhile they fail, and what was noticed was not the mistakes.
func (s *suite) unchanged(ctx context.Context) error {
	var names []string
	for _, t := range s.tests {
		names = append(names, t.name)
	}
	if out, failed, _ := s.run(ctx, s.limit, strings.Join(names, "|"), "MUTANT=-1", "N="+few); failed {
		return fmt.Errorf("tests of %s fail with no mistake made: what they read was changed while they ran:\n%s", s.dir, out)
	}
	return nil
}

// run runs tests, their names joined by |, and says whether it failed, and whether that is because it took
// longer than limit. A mistake may want all the memory there is: it gets 8 GB of addresses.
func (s *suite) run(ctx context.Context, limit time.Duration, name string, env ...string) (out []byte, failed, hung bool) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	args := []string{"-c", `ulimit -v 8000000; exec "$0" "$@"`, s.binary, "-test.run", "^(" + name + ")$",
		"-test.failfast", "-rapid.nofailfile", "-rapid.shrinktime=0s"}
	c := exec.CommandContext(ctx, "sh", args...)
	c.Dir, c.WaitDelay = s.dir, time.Second
	c.Env = append(append(os.Environ(), "GOMAXPROCS=1", "GOMEMLIMIT=1GiB"), env...)
	var text bytes.Buffer
	c.Stdout, c.Stderr = &text, &text
	err := c.Run()
	return text.Bytes(), err != nil, ctx.Err() != nil
}
