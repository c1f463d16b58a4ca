// Package faultcheck is the proof of the proofs: it runs the faults of dlmtest on programs that measure them from
// within (runner/faultcheck/outside), by the ordinary nemesis in ordinary runs, and holds what these saw beside what the
// proof in the run's history says.
package faultcheck

import (
	"cmp"
	"context"
	"crypto/rand"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/internal/settings"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/runner/matrix"
	"github.com/dlmtest/dlmtest/scenarios"
)

//go:embed scenarios/*.yaml servers.yaml
var files embed.FS

// Short are the scenarios of the short form; together they take some 30 s in a runtime.
var Short = []string{"stops", "network", "disk", "clocks", "links"}

// Long are those that only the long form adds.
var Long = []string{"long-cuts"}

// Options say what is measured, and where.
type Options struct {
	Runtime   string // docker or local
	Scenarios []string
	Self      string        // the dlmtest binary
	Version   string        // of it
	C         string        // a folder with the C program "clocks", which nodes see; empty: none
	Keep      string        // a folder for the runs; empty: they are removed
	Say       func(string)  // is told what goes on; by one caller at a time
	Parallel  int           // so many runs at a time; 0: one
	Limit     time.Duration // what has not ended by then is not measured; 0: no limit
}

// binary is dlmtest itself in every node.
const binary = "/dlmtest/dlmtest"

// Kinds are the faults that a scenario of ours measures.
func Kinds(scenario string) (kinds []string, err error) {
	file, err := load(scenario)
	if err != nil {
		return nil, err
	}
	for _, f := range file.Faults {
		if !slices.Contains(kinds, f.Fault) {
			kinds = append(kinds, f.Fault)
		}
	}
	return kinds, nil
}

func load(name string) (*scenarios.Scenario, error) {
	data, err := files.ReadFile("scenarios/" + name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("fault check: %w", err)
	}
	if name == "links" {
		data = append(data, faultsOfLinks()...)
	}
	return scenarios.Parse(name+".yaml", data)
}

// Run runs each scenario once. A scenario that cannot run here gives a row that says so; an error is of dlmtest itself.
func Run(ctx context.Context, o Options) (rows []Row, err error) {
	dir, err := os.MkdirTemp(o.Keep, "dlmtest-faults-")
	if err != nil {
		return nil, err
	}
	if o.Keep == "" {
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	limited := ctx
	if o.Limit > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, o.Limit)
		defer cancel()
	}
	var mu sync.Mutex
	say := o.Say
	o.Say = func(text string) { mu.Lock(); defer mu.Unlock(); say(text) }
	measured := make([][]Row, len(o.Scenarios))
	jobs := make([]int, len(o.Scenarios))
	for i := range jobs {
		jobs[i] = i
		measured[i] = []Row{o.row(o.Scenarios[i], Unmeasured, "no time was left")}
	}
	work := matrix.Work[int]{Parallel: o.Parallel, Alone: func(int) bool { return false }}
	missed := make([]string, len(o.Scenarios))
	work.Do = func(ctx context.Context, i int, again bool) bool {
		var rows []Row
		rows, missed[i] = o.scenario(ctx, dir, o.Scenarios[i], missed[i])
		if ctx.Err() == nil {
			measured[i] = rows
		}
		return missed[i] != "" && !again
	}
	work.Run(limited, jobs)
	if ctx.Err() != nil {
		return nil, errors.New("interrupted")
	}
	return slices.Concat(measured...), nil
}

// row is about all faults of a scenario.
func (o Options) row(scenario string, state State, why string) Row {
	kinds, err := Kinds(scenario)
	if err != nil {
		why = err.Error()
	}
	return Row{Runtime: o.Runtime, Kinds: kinds, Fault: strings.Join(kinds, ", "), What: "the faults work", State: state, Why: why}
}

// scenario runs one. missed says why it runs once more: it failed, its own proof has missed a fault, something was not
// measured, or the machine stood still; before is why it does so now.
func (o Options) scenario(ctx context.Context, dir, name, before string) (rows []Row, missed string) {
	file, err := load(name)
	if err == nil {
		again := ""
		if before != "" {
			again = ", once more: " + before
		}
		o.Say(fmt.Sprintf("%s: %s%s", o.Runtime, file.Title, again))
		rows, missed, err = o.measure(ctx, filepath.Join(dir, fmt.Sprint(name, "-", before != "")), *file, before != "")
	}
	if err != nil {
		return []Row{o.row(name, Disagrees, err.Error())}, err.Error()
	}
	for i := range rows {
		rows[i].Runtime = o.Runtime
	}
	return rows, missed
}

// measure makes one run.
func (o Options) measure(ctx context.Context, dir string, file scenarios.Scenario, again bool) (rows []Row, missed string, err error) {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, "", err
	}
	mark := "mark-" + rand.Text()
	compose, err := o.compose(dir, mark, file.Name)
	if err != nil {
		return nil, "", err
	}
	s := &seen{c: o.C != ""}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	stood := make(chan []sample, 1)
	if file.Name == "stops" {
		go func() { stood <- watch(watching, mark) }()
	} else {
		stood <- nil
	}
	out, err := runner.Run(ctx, runner.Options{Scenario: file, Backend: "redlock", Seed: 1, Out: filepath.Join(dir, "runs"),
		Settings: settings.Settings{Oracle: "off", Runtime: o.Runtime, Compose: compose, Adapter: []string{binary, "outside", "client", mark}},
		Self:     o.Self, Version: o.Version, Part: true}, quiet{})
	stop()
	s.stood = <-stood
	if err != nil {
		return nil, "", err
	}
	if s.strikes, err = strikesOf(file, out.Ops); err != nil {
		return nil, "", err
	}
	if err := s.load(out.Dir); err != nil {
		return nil, "", err
	}
	rows = s.judge()
	if !again {
		missed = still(rows, longestStall(out))
	}
	for _, k := range s.strikes {
		if !k.seen {
			missed = cmp.Or(missed, fmt.Sprintf("%s on %s was not seen by its proof: %s", k.label, k.target, k.proof))
		}
	}
	for _, r := range rows {
		if r.State == Unmeasured {
			missed = cmp.Or(missed, fmt.Sprintf("%s: %s: %s", r.Fault, r.What, r.Why))
		}
	}
	return rows, missed, nil
}

// stoodStill is for how long nodes may have had no processor before a run measures nothing.
const stoodStill = 250 * time.Millisecond

// still takes back what disagrees in a run whose nodes had no processor for so long, and says why it is to be made again. The
// run that is made again counts all the same, so that no busy machine hides what disagrees.
func still(rows []Row, stall time.Duration) (missed string) {
	if stall <= stoodStill {
		return ""
	}
	missed = fmt.Sprintf("the machine stood still for %s", ms(int64(stall)))
	for i := range rows {
		if rows[i].State == Disagrees {
			rows[i].State, rows[i].Why = Unmeasured, missed
		}
	}
	return missed
}

// longestStall is the longest time in which a node was not scheduled though no fault had stopped it.
func longestStall(out *runner.Outcome) (longest time.Duration) {
	for _, s := range trace.New(out.Setup, out.Ops).Stalls {
		if !s.Planned {
			longest = max(longest, time.Duration(s.To-s.From))
		}
	}
	return longest
}

// compose writes the file of the servers for a run.
func (o Options) compose(dir, mark, scenario string) (path string, err error) {
	data, err := files.ReadFile("servers.yaml")
	if err != nil {
		return "", err
	}
	folder, clocks, program, volumes, peers := `"-"`, "plain", `"-"`, "", ""
	switch scenario {
	case "disk":
		folder = "/data"
	case "network", "long-cuts":
		peers = ", redlock-1, redlock-2, redlock-3"
	case "clocks":
		clocks = "clocks"
		if o.C != "" {
			program, volumes = "/outside/clocks", "./c:/outside:ro"
			if err := os.CopyFS(filepath.Join(dir, "c"), os.DirFS(o.C)); err != nil {
				return "", err
			}
		}
	}
	fill := strings.NewReplacer("DATA-FOLDER", folder, "C-PROGRAM", program, "MARK-WORD", mark, "CLOCKS-MODE", clocks,
		", PEER-NODES", peers, "VOLUME-LIST", volumes)
	path = filepath.Join(dir, scenario+".yaml")
	return path, errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.WriteFile(path, []byte(fill.Replace(string(data))), 0o644))
}

// quiet shows nothing of a run: Say has told of it.
type quiet struct{}

func (quiet) Phase(string)                {}
func (quiet) Line(string)                 {}
func (quiet) Live(runner.Counts, float64) {}
