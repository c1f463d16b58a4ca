package cli

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"

	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/settings"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/locks/libraries"
	"github.com/dlmtest/dlmtest/reports/text"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/scenarios"
)

// runFlags are the flags of `dlmtest run` as they were given.
type runFlags struct {
	settings.Settings              // but those of the lock, which are chosen from lists
	scenarios, backends, libraries []string
	out, lease, shard, timings     string
	clients, keys, count, parallel int
	fresh                          bool
	bears                          bool // parallel is what this machine bears: nobody has said
	adapter                        adapterFlags
	seed                           uint64
	renew, json, trust, seeded     bool // seeded: --seed was given
}

const runLong = `Run a scenario against a lock and judge it, or a matrix of many.

--scenario and --backend take a name, all, a glob such as 'partition-*' or 'broken/*',
a list of these with commas, and may stand several times; scenarios are also given as
the path of a YAML file. all means every backend but those that are broken on purpose, which broken/* selects. --library
tests the lock of a library instead of the reference lock, on the named backend or else on
the first one that the library supports; --library NAME,reference runs both. Combinations
that make no sense are skipped and shown as n/a with the reason. A failed run does not stop
the others. RUNS/…_matrix/index.html shows all of them. A run that the machine disturbed is
repeated once, and both are listed.

--parallel sets how many runs execute at a time. The default is one for each processor, two
with --runtime local, and one fewer after each run that the machine disturbed; the default of
a shard is one. Timing-sensitive scenarios (a changed clock, or a fault shorter than a lease)
run alone, after the others.

--shard i/n executes part i of n only; the parts take about the same time. dlmtest report
merge combines them into one matrix, and names what is missing.

The exit code is that of the worst run: violated 1, else failed 3, else inconclusive 2. A
matrix that SIGINT or SIGTERM ended early exits 3, whatever it had found: it has to be run
again. A single run that is interrupted is judged, and exits with its verdict.
dlmtest gate decides what a project accepts.`

func newRun() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run --scenario NAME|FILE --backend NAME [--library NAME]",
		Short: "Run scenarios against locks and judge them",
		Long:  runLong,
		Example: `  dlmtest run --scenario gc-pause --backend redlock
  dlmtest run --scenario gc-pause --backend redis --lease 2s --seed 7
  dlmtest run --scenario gc-pause-read --backend etcd --fence-on read
  dlmtest run --scenario my-scenario.yaml --backend postgres --idle-timeout lease
  dlmtest run --scenario gc-pause --library redislock
  dlmtest run --scenario gc-pause --backend redis --adapter 'python3 /adapter/mine.py' --adapter-files ./mine
  dlmtest run --scenario all --backend all --lease 2s --parallel 2
  dlmtest run --scenario 'baseline,partition-*' --backend etcd,zookeeper --count 5
  dlmtest run --scenario all --backend all --seed 1 --shard 2/5`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd, f) },
	}
	f.register(cmd)
	return cmd
}

// register gives a command the flags of dlmtest run.
func (f *runFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false // the order in which a reader needs them
	flags.StringArrayVar(&f.scenarios, "scenario", nil, "scenarios by name (see dlmtest list), all, a glob, or the `path` of a YAML file")
	flags.StringArrayVar(&f.backends, "backend", nil, "locks to test by `name` (see dlmtest list), all (but those broken on purpose), or a glob")
	flags.StringArrayVar(&f.libraries, "library", nil,
		"lock libraries under test by `name` or NAME@VERSION (see dlmtest list libraries), all, or a glob (default: the lock of the backend)")
	f.adapter.register(flags)
	settingFlags(cmd, &f.Settings, "adapter-files", "client-image")
	flags.IntVar(&f.count, "count", 1, "runs of each scenario against each backend, with the seeds seed, seed+1, …")
	flags.IntVar(&f.parallel, "parallel", 0, "runs at a time (default: as many as this machine can take); timing-sensitive ones execute alone")
	flags.BoolVar(&f.fresh, "fresh", false, "start a cluster for each run (default: runs of one lock may share one, each with keys of its own)")
	flags.StringVar(&f.shard, "shard", "", "run only part `i/n` of the matrix, or auto: from a Kubernetes Indexed Job's or GitLab's variables; needs --seed")
	flags.StringVar(&f.timings, "timings", "", "with --shard: `folder` of an earlier matrix, by whose times the shards are balanced; the same for each")
	flags.StringVar(&f.lease, "lease", "", "lease of the lock, such as 2s (default: the scenario's)")
	flags.IntVar(&f.clients, "clients", 0, "number of client nodes (default: the scenario's)")
	flags.IntVar(&f.keys, "keys", 0, "number of keys (default: the scenario's)")
	flags.BoolVar(&f.renew, "renew", false, "clients renew their lease while they work")
	settingFlags(cmd, &f.Settings, "self-fence", "resource", "fencing", "fence-on", "idle-timeout", "fsync", "wait", "etcd")
	flags.Uint64Var(&f.seed, "seed", 0, "seed of every random choice (default: a new one, printed)")
	settingFlags(cmd, &f.Settings, "until", "strict", "free-within", "oracle", "endpoint", "compose", "allow-host", "runtime")
	flags.BoolVar(&f.trust, "trust", false, "use what the settings of a scenario's file name: adapter, files, image, compose file, endpoints")
	flags.StringVar(&f.out, "out", "runs", "folder for the run's folder")
	flags.BoolVar(&f.json, "json", false, "print JSON lines instead of text")
	_ = cmd.RegisterFlagCompletionFunc("scenario", completeList(append([]string{"all"}, scenarios.Names()...)))
	_ = cmd.RegisterFlagCompletionFunc("backend", completeList(append([]string{"all", "broken/*"}, backends()...)))
	_ = cmd.RegisterFlagCompletionFunc("library", completeList(append([]string{"all", history.Reference}, libraries.Names()...)))
	_ = cmd.RegisterFlagCompletionFunc("count", complete([]string{"1", "5", "20"}))
	_ = cmd.RegisterFlagCompletionFunc("parallel", complete([]string{"1", "2"}))
	_ = cmd.RegisterFlagCompletionFunc("idle-timeout", complete([]string{"off", "lease", "2s"}))
}

func complete(words []string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return words, cobra.ShellCompDirectiveDefault
	}
}

// backends lists the names of the locks, sorted.
func backends() []string {
	var names []string
	for name := range locks.Table {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// run runs one scenario against one backend, or a matrix.
func run(cmd *cobra.Command, f runFlags) error {
	if err := f.pairs(cmd); err != nil {
		return err
	}
	cells, err := f.cells(cmd)
	if err != nil {
		return err
	}
	if len(cells)*f.count > 1 || f.shard != "" || f.timings != "" {
		if err := tellReach(cmd, cells); err != nil {
			return err
		}
		return f.runMatrix(cmd, cells)
	}
	return runOne(cmd, cells[0], f.json)
}

func runOne(cmd *cobra.Command, o runner.Options, asJSON bool) error {
	show := newProgress(asJSON)
	if !asJSON {
		fmt.Fprintf(stderr, "%s × %s, lease %v, seed %d\n", o.Scenario.Name, o.Label(), o.Scenario.Lease, o.Seed)
	}
	out, err := runner.Run(cmd.Context(), o, show)
	show.Done()
	if out == nil && errors.Is(err, context.Canceled) {
		return errors.New("interrupted before anything could be judged; nothing is left running")
	}
	if out == nil {
		return err
	}
	return verdictError{out.Result.Verdict, errors.Join(err, tell(out, asJSON))}
}

// pairs refuses a flag that would do nothing without another one, unless a scenario's file may have that.
func (f *runFlags) pairs(cmd *cobra.Command) error {
	for _, needs := range [][2]string{{"adapter-files", "adapter"}, {"allow-host", "compose"}} {
		if cmd.Flags().Changed(needs[0]) && !cmd.Flags().Changed(needs[1]) && !f.trust {
			return usageError{fmt.Errorf("--%s goes with --%s, and does nothing without it", needs[0], needs[1])}
		}
	}
	return nil
}

// cells checks the flags and makes of them the options of every run, row by row.
func (f *runFlags) cells(cmd *cobra.Command) ([]runner.Options, error) {
	f.chooseParallel(cmd.Flags().Changed("parallel"))
	named, err := chooseScenarios(f.scenarios)
	if err != nil {
		return nil, err
	}
	if f.Adapter, err = f.adapter.words(cmd.Flags().Changed("adapter"), f.backends, f.libraries); err != nil {
		return nil, err
	}
	locks, err := chooseLocks(f.backends, f.libraries)
	if err != nil {
		return nil, err
	}
	if err := f.choices(); err != nil {
		return nil, err
	}
	if f.seeded = f.seed != 0; !f.seeded {
		f.seed = newSeed()
	}
	var all []runner.Options
	for _, n := range named {
		if err := f.apply(cmd, &n.scenario); err != nil {
			return nil, err
		}
		for _, lock := range locks {
			o, err := f.options(cmd, n, lock)
			if err != nil {
				return nil, err
			}
			o.Command = repeat(cmd, n.given, lock, f.seed)
			all = append(all, o)
		}
	}
	return all, nil
}

// options are those of the runs of one scenario against one lock.
func (f *runFlags) options(cmd *cobra.Command, n named, lock underTest) (runner.Options, error) {
	o := runner.Options{Scenario: n.scenario, Backend: lock.backend, Seed: f.seed, Out: f.out, Self: self(), Version: version}
	f.Library = lock.library
	g := givenOf(cmd.Flags(), f.Settings)
	g.Trust = f.trust
	trusted, err := o.Settle(n.given, g)
	if err != nil {
		return o, err
	}
	tellTrusted(cmd.ErrOrStderr(), trusted, o)
	return o, isFolder(o.Files)
}

func (f runFlags) choices() error {
	return errors.Join(atLeastOne("count", f.count), parallelWithin(f.parallel), checkSettings(f.Settings))
}

// apply puts the flags that were given over the scenario's own values.
func (f runFlags) apply(cmd *cobra.Command, s *scenarios.Scenario) error {
	if f.lease != "" {
		d, err := scenarios.ParseDuration(f.lease)
		if err != nil {
			return usageError{fmt.Errorf("--lease: %w", err)}
		}
		s.Lease = d
	}
	if cmd.Flags().Changed("clients") {
		s.Clients = f.clients
	}
	if cmd.Flags().Changed("keys") {
		s.Keys = f.keys
	}
	if cmd.Flags().Changed("renew") {
		s.Renew = f.renew
	}
	if err := s.Validate(); err != nil {
		return usageError{err}
	}
	return nil
}

func newSeed() uint64 {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails, says crypto/rand
	return uint64(binary.LittleEndian.Uint32(b[:])) + 1
}

// self is the path of this binary.
func self() string {
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}

// tell prints the verdict.
func tell(out *runner.Outcome, asJSON bool) error {
	report := filepath.Join(out.Dir, "report.html")
	if _, err := os.Stat(report); err != nil {
		report = "" // there was no room for it
	}
	if asJSON {
		return json.NewEncoder(stdout).Encode(map[string]any{"event": "result", "dir": out.Dir, "report": report, "result": out.Result, "figures": out.Figures})
	}
	o := textOptions()
	o.Path, o.Figures = report, &out.Figures
	return text.Write(styled, out.Run, out.Setup, out.Ops, out.Result, o)
}

// textOptions are those of the terminal.
func textOptions() text.Options {
	width, terminal := screen()
	return text.Options{Color: terminal && os.Getenv("NO_COLOR") == "", Width: width}
}
