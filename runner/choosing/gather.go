package choosing

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/bounded"
	"github.com/dlmtest/dlmtest/reports/figures"
	"github.com/dlmtest/dlmtest/reports/pages"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/runner/capacity"
	"github.com/dlmtest/dlmtest/runner/matrix"
)

// kernelBuild is what follows the two numbers of a kernel's version: it names a build, not what it can do.
var kernelBuild = regexp.MustCompile(`(Linux \d+\.\d+)[^ ,]*`)

// The scenarios that the page tells of, in its order.
const (
	quiet       = "baseline"          // nothing goes wrong
	stopped     = "gc-pause"          // a holder stops for longer than its lease
	between     = "gc-pause-read"     // and wakes between the next holder's read and its write
	clocks      = "clock-jump"        // the servers' clocks jump
	amnesia     = "token-amnesia"     // a server loses what it had not fsynced
	parted      = "partition-halves"  // the servers are parted
	charged     = "payment-pause"     // an effect outside of the database
	chargedOnce = "payment-key-pause" // the same with an idempotency key
)

var told = []string{quiet, stopped, between, clocks, amnesia, parted, charged, chargedOnce}

// Gather reads what saved matrices show. Runs of one client give latencies and nothing
// else, as no lock excludes anybody there.
func Gather(dirs []string) (e Evidence, err error) {
	newest := time.Time{}
	for _, dir := range dirs {
		in, x, err := held(dir)
		if errors.Is(err, fs.ErrNotExist) {
			return e, fmt.Errorf("%s is no saved matrix: %w; dlmtest run --scenario gc-pause,baseline --backend all makes one", dir, err)
		}
		if err != nil {
			return e, err
		}
		defer func() { _ = in.Close() }() // it was read
		if x.Started.After(newest) {
			newest = x.Started
		}
		e.Version, e.Commands = cmp.Or(e.Version, x.Version), append(e.Commands, x.Command)
		if x.Version != e.Version {
			return e, fmt.Errorf("%w: %s is of dlmtest %s, and others are of %s", errThin, dir, x.Version, e.Version)
		}
		for _, c := range x.Cells {
			if err := e.gather(in, c); err != nil {
				return e, err
			}
		}
	}
	e.Date = newest.UTC().Format(time.DateOnly)
	slices.SortStableFunc(e.Locks, func(a, b Lock) int { return cmp.Compare(place(a), place(b)) })
	return e, e.enough()
}

// held opens the folder of a matrix, and reads its index.
func held(dir string) (*os.Root, pages.Index, error) {
	in, err := os.OpenRoot(dir)
	if err != nil {
		return nil, pages.Index{}, err
	}
	x, err := matrix.OpenIn(in)
	if err != nil {
		err = errors.Join(err, in.Close())
	}
	return in, x, err
}

// place sorts the reference locks before the libraries.
func place(l Lock) int {
	if l.reference() {
		return 0
	}
	return 1
}

// gather adds a cell. One that makes no sense, or was not judged, shows nothing.
func (e *Evidence) gather(in *os.Root, c pages.Cell) error {
	i := slices.IndexFunc(c.Runs, func(r pages.CellRun) bool { return r.Dir != "" && r.Answers != nil && !r.Repeated })
	if i < 0 {
		return nil
	}
	own, err := bounded.Below(in, c.Runs[i].Dir)
	if err != nil {
		return err
	}
	out, err := runner.OpenIn(own)
	if err = errors.Join(err, own.Close()); err != nil {
		return err
	}
	if out.Run.Repeat == nil {
		return fmt.Errorf("%w: %s was written by an older dlmtest", errThin, own.Name())
	}
	l := e.lock(out)
	e.Runtime, e.Machine = out.Run.Repeat.Runtime, kernelBuild.ReplaceAllString(out.Run.Machine, "$1")
	if len(out.Setup.Clients) == 1 {
		l.time(out)
		return nil
	}
	fence := cmp.Or(out.Setup.FenceOn, history.OnWrite)
	if slices.ContainsFunc(l.Shown, func(s Shown) bool { return s.Scenario == c.Scenario && s.FenceOn == fence }) {
		return fmt.Errorf("%w: %s × %s with --fence-on %s is in two of them", errThin, c.Scenario, l.Name(), fence)
	}
	l.Shown = append(l.Shown, Shown{Scenario: c.Scenario, FenceOn: fence, Runs: seen(out.Setup, c)})
	return nil
}

// lock is the entry of the lock of a run, a new one where it is the first.
func (e *Evidence) lock(out *runner.Outcome) *Lock {
	l := Lock{Backend: out.Run.Backend, Leased: out.Setup.Promise.Leased, Token: out.Setup.Promise.Token, Count: len(out.Setup.Servers)}
	if out.Run.Library != "" && out.Run.Library != history.Reference {
		l.Library = strings.TrimSpace(out.Run.Library + " " + out.Run.LibraryVersion)
	}
	for i := range e.Locks {
		if e.Locks[i].Backend == l.Backend && e.Locks[i].Library == l.Library {
			return &e.Locks[i]
		}
	}
	l.Servers = kinds(out.Setup.Servers)
	e.Locks = append(e.Locks, l)
	return &e.Locks[len(e.Locks)-1]
}

// kinds counts servers by their names without their numbers: "3 redis, 3 sentinel".
func kinds(names []string) string {
	var order []string
	n := map[string]int{}
	for _, name := range names {
		kind := strings.TrimRight(name, "-0123456789")
		if n[kind]++; n[kind] == 1 {
			order = append(order, kind)
		}
	}
	for i, kind := range order {
		order[i] = fmt.Sprintf("%d %s", n[kind], kind)
	}
	return strings.Join(order, ", ")
}

// time takes the latencies of a run of one client.
func (l *Lock) time(out *runner.Outcome) {
	for _, q := range figures.Measure(out.Setup, out.Ops, out.Result).Latencies {
		took := &Latency{Count: q.Count, P50: q.P50, P99: q.P99}
		switch q.Operation {
		case "acquire":
			l.Acquire = took
		case "release":
			l.Release = took
		}
	}
}

// seen is what each run of a cell showed. One that was repeated, as the machine disturbed it, shows what it violated and nothing else.
func seen(setup history.Setup, c pages.Cell) (all []Seen) {
	for _, r := range c.Runs {
		s := Seen{Broken: broken(setup, r), Once: paid(r)}
		if r.Answers != nil {
			s.Answers = *r.Answers
		}
		if r.Answers != nil && (!r.Repeated || len(s.Broken) > 0 || once(s) == checker.No || onceFenced(s) == checker.No) {
			all = append(all, s)
		}
	}
	return all
}

// broken are the promises that the service, or the fence of its tokens, broke in a run.
func broken(setup history.Setup, r pages.CellRun) (all []string) {
	for _, p := range r.Properties {
		owed, _ := checker.Find(p.Name)
		ours := owed.Owed == checker.Service || owed.Owed == checker.Fence || owed.Owed == checker.Unleased && !setup.Promise.Ends()
		if p.Verdict == checker.Violated && ours {
			all = append(all, p.Name)
		}
	}
	return all
}

// paid are the answers of a payment; nil: the run made none.
func paid(r pages.CellRun) *Once {
	said := Once{checker.NotAsked, checker.NotAsked}
	asked := false
	for _, p := range r.Properties {
		switch p.Name {
		case chargedProperty + "/unfenced":
			asked, said.Unfenced = true, checker.Reply(p.Verdict)
		case chargedProperty + "/fenced":
			asked, said.Fenced = true, checker.Reply(p.Verdict)
		}
	}
	if !asked {
		return nil
	}
	return &said
}

// chargedProperty says of both copies that each order was charged once.
const chargedProperty = "charged-once"

// enough refuses matrices in which what the page tells was not run.
func (e Evidence) enough() error {
	for _, scenario := range told {
		if !slices.ContainsFunc(e.Locks, func(l Lock) bool { return l.reference() && l.in(scenario, history.OnWrite) != nil }) {
			return fmt.Errorf("%w: %s is in none of them; want %s of the reference locks, and %s with --fence-on read",
				errThin, scenario, strings.Join(told, ","), between)
		}
	}
	if !slices.ContainsFunc(e.Locks, func(l Lock) bool { return l.in(between, history.OnRead) != nil }) {
		return fmt.Errorf("%w: %s with --fence-on read is in none of them", errThin, between)
	}
	return nil
}

// Measured adds what dlmtest capacity --json wrote.
func (e *Evidence) Measured(r capacity.Report) {
	c := Capacity{Backend: r.Backend, Version: r.Version}
	for _, row := range r.Rows {
		c.Rows = append(c.Rows, Slope{What: cmp.Or(row.Kind, row.What), Unit: row.Unit, One: row.Line.Slope, Error: row.Line.Error})
	}
	e.Capacity = slices.DeleteFunc(e.Capacity, func(o Capacity) bool { return o.Backend == c.Backend })
	e.Capacity = append(e.Capacity, c)
}
