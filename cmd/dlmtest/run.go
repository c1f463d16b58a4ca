package main

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/scenarios"
	"github.com/dlmtest/dlmtest/scenarios/near"
)

// runFlags are the flags of `dlmtest run` as they were given.
type runFlags struct {
	scenario, backend, out, resource, fencing, fenceOn, selfFence, compose, idle, lease, oracle, fsync, etcd, runtime string
	clients, keys, wait                                                                                               int
	seed                                                                                                              uint64
	renew, strict, json                                                                                               bool
}

func newRun() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run --scenario NAME|FILE --backend NAME",
		Short: "Run a scenario against a lock and judge it",
		Example: `  dlmtest run --scenario gc-pause --backend redlock
  dlmtest run --scenario gc-pause --backend redis --lease 2s --seed 7
  dlmtest run --scenario gc-pause-read --backend etcd --fence-on read
  dlmtest run --scenario my-scenario.yaml --backend postgres --idle-timeout lease`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd, f) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false // the order in which a reader needs them
	flags.StringVar(&f.scenario, "scenario", "", "scenario by name (see dlmtest list), or the path of a YAML file")
	flags.StringVar(&f.backend, "backend", "", "lock to test (see dlmtest list)")
	flags.StringVar(&f.lease, "lease", "", "lease of the lock, such as 2s (default: the scenario's)")
	flags.IntVar(&f.clients, "clients", 0, "number of client nodes (default: the scenario's)")
	flags.IntVar(&f.keys, "keys", 0, "number of keys (default: the scenario's)")
	flags.BoolVar(&f.renew, "renew", false, "clients renew their lease while they work")
	flags.StringVar(&f.selfFence, "self-fence", "none", "what a client checks before it writes: none, check-deadline, check-session")
	flags.StringVar(&f.resource, "resource", "store", "guarded resource: store (built in) or postgres")
	flags.StringVar(&f.fencing, "fencing", "at-least", "when the fenced copy accepts a token: at-least (not below the highest) or strict (above it)")
	flags.StringVar(&f.fenceOn, "fence-on", "write", "what registers a token: write, or read (reads and writes)")
	flags.StringVar(&f.idle, "idle-timeout", "off", "PostgreSQL's idle_in_transaction_session_timeout: off, lease, or a duration")
	flags.StringVar(&f.fsync, "fsync", "", "when the servers make data durable: memory, everysec, always, async or none, as the backend has them")
	flags.IntVar(&f.wait, "wait", 0, "redis-replicated: replicas that must acknowledge a grant (WAIT)")
	flags.StringVar(&f.etcd, "etcd", "", "version of etcd to build from its Go module, such as 3.6 (default: Debian's)")
	flags.Uint64Var(&f.seed, "seed", 0, "seed of every random choice (default: a new one, printed)")
	flags.BoolVar(&f.strict, "strict", false, "count overlaps in which the stale holder did nothing")
	flags.StringVar(&f.oracle, "oracle", "windows", "Porcupine confirms the window around each violation: windows or off")
	flags.StringVar(&f.compose, "compose", "", "your own compose file with the backend's profile, for your versions and configuration")
	flags.StringVar(&f.runtime, "runtime", "auto", "where nodes run: docker, local (namespaces, no Docker and no root), or auto: docker where a daemon answers")
	flags.StringVar(&f.out, "out", "runs", "folder for the run's folder")
	flags.BoolVar(&f.json, "json", false, "print JSON lines instead of text")
	_ = cmd.RegisterFlagCompletionFunc("scenario", complete(scenarios.Names()))
	_ = cmd.RegisterFlagCompletionFunc("backend", complete(backends()))
	_ = cmd.RegisterFlagCompletionFunc("runtime", complete([]string{"auto", "docker", "local"}))
	_ = cmd.RegisterFlagCompletionFunc("oracle", complete([]string{"windows", "off"}))
	_ = cmd.RegisterFlagCompletionFunc("idle-timeout", complete([]string{"off", "lease", "2s"}))
	_ = cmd.RegisterFlagCompletionFunc("fencing", complete([]string{"at-least", "strict"}))
	_ = cmd.RegisterFlagCompletionFunc("fence-on", complete([]string{"write", "read"}))
	_ = cmd.RegisterFlagCompletionFunc("resource", complete([]string{"store", "postgres"}))
	_ = cmd.RegisterFlagCompletionFunc("self-fence", complete([]string{"none", "check-deadline", "check-session"}))
	return cmd
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

func run(cmd *cobra.Command, f runFlags) error {
	o, err := f.options(cmd)
	if err != nil {
		return err
	}
	show := newProgress(f.json)
	if !f.json {
		fmt.Fprintf(os.Stderr, "%s × %s, lease %v, seed %d\n", o.Scenario.Name, o.Backend, o.Scenario.Lease, o.Seed)
	}
	out, err := runner.Run(cmd.Context(), o, show)
	show.Done()
	if out == nil && errors.Is(err, context.Canceled) {
		return errors.New("interrupted before anything could be judged; nothing is left running")
	}
	if out == nil {
		return err
	}
	return verdictError{out.Result.Verdict, errors.Join(err, tell(out, f.json))}
}

// options checks the flags and applies them to the scenario.
func (f runFlags) options(cmd *cobra.Command) (runner.Options, error) {
	var o runner.Options
	scenario, err := f.loadScenario()
	if err != nil {
		return o, err
	}
	if f.backend == "" || !slices.Contains(backends(), f.backend) {
		if f.backend == "" {
			return o, usageError{fmt.Errorf("--backend is missing; one of %v", backends())}
		}
		return o, usageError{unknown("backend", f.backend, near.Nearest(f.backend, backends()), "dlmtest list")}
	}
	if err := f.choices(); err != nil {
		return o, err
	}
	if err := f.apply(cmd, &scenario); err != nil {
		return o, err
	}
	if f.wait != 0 && f.backend != "redis-replicated" {
		return o, usageError{fmt.Errorf("--wait is for the backend redis-replicated, not for %s", f.backend)}
	}
	if f.etcd != "" && locks.Table[f.backend].Profile != "etcd" {
		return o, usageError{fmt.Errorf("--etcd is for backends on etcd, not for %s", f.backend)}
	}
	if cmd.Flags().Changed("idle-timeout") && !strings.HasPrefix(f.backend, "postgres") {
		return o, usageError{fmt.Errorf("--idle-timeout is a setting of PostgreSQL; the backend %s has none", f.backend)}
	}
	if f.seed == 0 {
		f.seed = newSeed()
	}
	o = runner.Options{Scenario: scenario, Backend: f.backend, Seed: f.seed, Out: f.out, Resource: f.resource,
		Fencing: f.fencing, FenceOn: f.fenceOn, SelfFence: f.selfFence, Strict: f.strict, Fsync: f.fsync, Wait: f.wait, Etcd: f.etcd, Runtime: f.runtime, Compose: f.compose,
		Oracle: f.oracle != "off", Self: self(), Version: version}
	if o.Idle, err = f.idleTimeout(scenario.Lease.Of(0)); err != nil {
		return o, err
	}
	o.Command = repeat(cmd, f.seed)
	return o, nil
}

func (f runFlags) loadScenario() (scenarios.Scenario, error) {
	if f.scenario == "" {
		return scenarios.Scenario{}, usageError{fmt.Errorf("--scenario is missing; one of %v, or the path of a YAML file", scenarios.Names())}
	}
	s, err := scenarios.Load(f.scenario)
	if err != nil {
		return scenarios.Scenario{}, usageError{err}
	}
	return *s, nil
}

func (f runFlags) choices() error {
	return errors.Join(oneOf("resource", f.resource, "store", "postgres"), oneOf("fencing", f.fencing, "at-least", "strict"),
		oneOf("fence-on", f.fenceOn, "write", "read"), oneOf("oracle", f.oracle, "windows", "off"), oneOf("runtime", f.runtime, "auto", "docker", "local"),
		oneOf("self-fence", f.selfFence, "none", "check-deadline", "check-session"))
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

func (f runFlags) idleTimeout(lease time.Duration) (time.Duration, error) {
	switch f.idle {
	case "off", "":
		return 0, nil
	case "lease":
		return lease, nil
	}
	d, err := time.ParseDuration(f.idle)
	if err != nil || d < time.Millisecond {
		return 0, usageError{fmt.Errorf("--idle-timeout %s: want off, lease, or a duration of at least 1ms", f.idle)}
	}
	return d, nil
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
	if asJSON {
		return json.NewEncoder(os.Stdout).Encode(map[string]any{"event": "result", "dir": out.Dir, "report": report, "result": out.Result})
	}
	width, _, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		width = 100
	}
	color := term.IsTerminal(int(os.Stdout.Fd())) && os.Getenv("NO_COLOR") == ""
	return reports.Text(os.Stdout, out.Run, out.Setup, out.Ops, out.Result, reports.TextOptions{Color: color, Width: width, Path: report})
}
