package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/internal/nouns"
	"github.com/dlmtest/dlmtest/internal/settings"
	"github.com/dlmtest/dlmtest/locks/libraries"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/runner/gate"
	"github.com/dlmtest/dlmtest/runner/hunt"
	"github.com/dlmtest/dlmtest/runner/matrix"
)

const huntLong = `Search a lock for bugs that no scenario describes: draw short trials (how the lock is used, and
which faults strike when) from a seed, learn from the result of each, and report each bug as the
smallest scenario that shows it.

A violation is a finding when it comes again in at least 2 of 3 repeats, each in a fresh cluster,
and the reference lock of the same servers does not show it in 3 of 3 under the same trial; or
when the service itself owes the property and no fault of the trial excuses it. So a stopped
client that writes too late is no finding: every leased lock shows that.

The hunt's folder has index.html (findings first, then what was tried), index.md, hunt.json,
junit.xml, and of each finding a scenario file with its command. Everything is saved as it goes:
Ctrl-C loses nothing, and --resume DIR continues the hunt for another --for. --shard i/n runs
one part of the trials, and each part lasts --for; dlmtest report merge combines the parts.

Exit codes: 0 nothing was found, 1 a finding, 2 too little was tried to say so, 3 dlmtest or its
infrastructure failed, 64 wrong usage.`

// huntFlags are the flags of dlmtest hunt.
type huntFlags struct {
	settings.Settings
	library, backend, out, resume, known string
	adapter                              adapterFlags
	limit                                time.Duration
	seed                                 uint64
	parallel                             int
	shard                                string
	json, first                          bool
}

func newHunt() *cobra.Command {
	f := huntFlags{Settings: settings.Default()} // of what no flag says
	cmd := &cobra.Command{
		Use:   "hunt --library NAME | --adapter COMMAND --backend NAME | --backend NAME",
		Short: "Search a lock for bugs that no scenario describes",
		Long:  huntLong,
		Example: `  dlmtest hunt --library redislock --for 10m
  dlmtest hunt --library redsync@v4.12.0 --for 5m --runtime local --seed 7
  dlmtest hunt --backend redis --adapter 'python3 /adapter/mine.py' --adapter-files ./mine
  dlmtest hunt --backend etcd --known gate.yaml
  dlmtest hunt --library redislock --seed 7 --shard 2/4 --out shards
  dlmtest hunt --library redislock --resume runs/20261122T210000.000_hunt --for 30m`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.hunt(cmd) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.library, "library", "", "lock library to hunt in, by `name` or NAME@VERSION (default: the lock of the backend)")
	flags.StringVar(&f.backend, "backend", "", "`name` of the backend (default: the library's first)")
	f.adapter.register(flags)
	settingFlags(cmd, &f.Settings, "adapter-files", "client-image")
	flags.DurationVar(&f.limit, "for", 10*time.Minute, "how long to hunt; findings are shrunk in the last part of it")
	flags.BoolVar(&f.first, "first", false, "end with the first finding that the reference lock does not show, as it was seen; --resume shrinks it")
	flags.Uint64Var(&f.seed, "seed", 0, "seed of every trial (default: a new one, printed)")
	flags.IntVar(&f.parallel, "parallel", 0, "runs at a time (default: 2 to 4 for each processor, as the lock and its servers bear)")
	flags.StringVar(&f.shard, "shard", "", "hunt in every n-th trial only: `i/n`, or auto; needs --seed. dlmtest report merge puts the parts together")
	flags.StringVar(&f.known, "known", "", "gate `file`: what it accepts of this lock is no finding under the same kinds of faults")
	settingFlags(cmd, &f.Settings, "self-fence", "resource", "fencing", "fence-on", "etcd", "strict", "free-within", "endpoint",
		"compose", "allow-host", "runtime")
	free := flags.Lookup("free-within") // a search is told more than a gate: what the reference lock shows, too, is no finding
	free.DefValue, f.Free = "lease", "lease"
	flags.StringVar(&f.out, "out", "runs", "folder for the hunt's folder")
	flags.StringVar(&f.resume, "resume", "", "go on with the hunt in this `folder`, of the same lock")
	flags.BoolVar(&f.json, "json", false, "print JSON lines instead of text")
	_ = cmd.RegisterFlagCompletionFunc("library", complete(libraries.Names()))
	_ = cmd.RegisterFlagCompletionFunc("backend", complete(backends()))
	_ = cmd.RegisterFlagCompletionFunc("for", complete([]string{"5m", "10m", "30m"}))
	return cmd
}

// options checks the flags and makes of them the options of every run.
func (f *huntFlags) options(cmd *cobra.Command) (o runner.Options, err error) {
	var libraries, backends []string
	if f.library != "" {
		libraries = []string{f.library}
	}
	if f.backend != "" {
		backends = []string{f.backend}
	}
	if f.Adapter, err = f.adapter.words(cmd.Flags().Changed("adapter"), backends, libraries); err != nil {
		return o, err
	}
	switch {
	case len(libraries)+len(backends) == 0:
		return o, usageError{errors.New("no lock is named: want --library NAME, --backend NAME, or --adapter COMMAND " +
			"with --backend NAME; dlmtest list shows them")}
	case f.parallel != 0 && parallelWithin(f.parallel) != nil:
		return o, parallelWithin(f.parallel)
	case f.limit <= 0:
		return o, usageError{fmt.Errorf("--for %v: want a time, such as 10m", f.limit)}
	}
	locks, err := chooseLocks(backends, libraries)
	if err == nil && len(locks) != 1 {
		err = usageError{errors.New("a hunt is of one lock: want one name, not a list, a glob or all")}
	}
	if err != nil {
		return o, err
	}
	f.Oracle = "off" // a search asks whether a violation is there, not what Porcupine says of it
	if err := errors.Join(checkSettings(f.Settings), isFolder(f.Files)); err != nil {
		return o, err
	}
	f.Library = locks[0].library
	return runner.Options{Settings: f.Settings, Backend: locks[0].backend, Self: self(), Version: version,
		Out: f.out}, nil
}

// spec is the whole of what is asked for.
func (f *huntFlags) spec(cmd *cobra.Command) (s hunt.Spec, err error) {
	s = hunt.Spec{For: f.limit, First: f.first, Seed: f.seed, Run: runner.Run, Applies: runner.Applies}
	if s.Options, err = f.options(cmd); err != nil {
		return s, err
	}
	if s.Shard, err = f.shardOf(); err != nil {
		return s, err
	}
	if s.Seed == 0 {
		s.Seed = newSeed()
	}
	if s.Parallel = f.parallel; s.Parallel == 0 {
		s.Parallel = huntParallel(cmd.Context(), s.Options.Backend, s.Options.Runtime)
	}
	if f.known != "" {
		c, err := gate.Load(f.known)
		if err != nil {
			return s, usageError{err}
		}
		if s.Known, err = hunt.Known(c, s.Options.Label()); err != nil {
			return s, usageError{err}
		}
	}
	if err := s.ForLock(cmd.Context()); err != nil {
		return s, err
	}
	return s, f.folder(&s)
}

// shardOf reads --shard.
func (f *huntFlags) shardOf() (s matrix.Shard, err error) {
	switch {
	case f.shard == "":
		return s, nil
	case f.resume != "":
		return s, usageError{errors.New("--shard and --resume: a hunt goes on with the shard that it has")}
	case f.seed == 0:
		return s, usageError{errors.New("--shard needs --seed, the same for each shard: else each would draw its own")}
	case f.shard == "auto":
		s, err = matrix.ShardOf(os.LookupEnv)
	default:
		s, err = matrix.ParseShard(f.shard)
	}
	if err != nil {
		err = usageError{fmt.Errorf("--shard %s: %w", f.shard, err)}
	}
	return s, err
}

// folder is the one to go on with, or a new one.
func (f *huntFlags) folder(s *hunt.Spec) (err error) {
	if f.resume == "" {
		if s.Dir, err = runner.NewFolder(f.out, "hunt", time.Now()); err != nil {
			return fmt.Errorf("the hunt's folder: %w; choose another with --out DIR", err)
		}
		return nil
	}
	s.Dir = f.resume
	if _, err := os.Stat(filepath.Join(f.resume, hunt.ReportFile)); err != nil {
		return usageError{fmt.Errorf("--resume %s: %w; want the folder of a hunt", f.resume, err)}
	}
	return nil
}

// hunt is one hunt, from its flags to its exit code.
func (f *huntFlags) hunt(cmd *cobra.Command) error {
	s, err := f.spec(cmd)
	if err != nil {
		return err
	}
	s.Command = repeatHunt(cmd, s.Seed)
	show := &huntProgress{json: f.json, limit: f.limit, begun: time.Now()}
	s.Watch = show
	h, err := hunt.New(s)
	if err != nil {
		return err
	}
	if !f.json {
		fmt.Fprintf(stderr, "hunting in %s for %v, seed %d, %s at a time; folder %s\n", s.Options.Label(), f.limit,
			h.Report.Seed, nouns.Count(s.Parallel, "run"), s.Dir)
	}
	err = h.Go(cmd.Context())
	tellHunt(s.Dir, h.Report, f.json)
	return huntError(cmd.Context(), h.Report, err)
}

// repeatHunt is the command that hunts again with the same seed.
func repeatHunt(cmd *cobra.Command, seed uint64) []string {
	words := []string{"dlmtest", "hunt"}
	for _, name := range []string{"library", "backend", "adapter", "adapter-files", "client-image", "for", "first", "known",
		"etcd", "self-fence", "strict", "free-within", "runtime"} {
		if flag := cmd.Flags().Lookup(name); flag != nil && flag.Changed {
			words = append(words, given(flag)...)
		}
	}
	return append(words, "--seed", fmt.Sprint(seed))
}

// huntProgress shows a hunt while it goes on: a line now and then, or an event for each trial.
type huntProgress struct {
	json  bool
	limit time.Duration
	begun time.Time
	last  time.Time
}

// Tried implements hunt.Watcher.
func (p *huntProgress) Tried(t hunt.Tried, r *hunt.Report) {
	if p.json {
		event(stdout, map[string]any{"event": "trial", "trial": t})
		return
	}
	if time.Since(p.last) < 5*time.Second && len(t.Violated) == 0 {
		return
	}
	p.last = time.Now()
	text := fmt.Sprintf("%5.0f s  trial %d: %s", time.Since(p.begun).Seconds(), t.Number,
		nouns.Count(t.Fresh, "new feature"))
	if len(t.Violated) > 0 {
		text += "; violated: " + strings.Join(t.Violated, ", ")
	}
	fmt.Fprintln(stderr, text)
}

// Says implements hunt.Watcher.
func (p *huntProgress) Says(line string) {
	if p.json {
		event(stdout, map[string]any{"event": "line", "text": line})
		return
	}
	fmt.Fprintf(stderr, "%5.0f s  %s\n", time.Since(p.begun).Seconds(), line)
}
