package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/internal/settings"
	"github.com/dlmtest/dlmtest/internal/visible"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/locks/libraries"
	"github.com/dlmtest/dlmtest/locks/protocol"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/scenarios"
	"github.com/dlmtest/dlmtest/workloads"
)

// conformFlags are the flags of `dlmtest conform` as they were given.
type conformFlags struct {
	settings.Settings
	backend, lease string
	json           bool
}

const conformLong = `Run the conformance suite that every lock must pass, inside a client node and
against a real cluster, with no faults: a lock must do what it claims.

After -- stands the command of an adapter of your own, which speaks the lock client
protocol (docs/protocol.md). It is first asked whether it keeps the protocol, and then
whether its lock keeps what it claims; each mistake is told in plain words, with what to
do about it. --backend starts the servers that it needs; --endpoint names your own, and
then the adapter runs on this machine as it is.

Exit codes: 0 all is well, 1 something was found, 3 dlmtest failed, 64 wrong usage.`

func newConform() *cobra.Command {
	var f conformFlags
	cmd := &cobra.Command{
		Use:   "conform --backend NAME [--library NAME | -- CMD…]",
		Short: "Run the conformance suite of locks, or of the protocol for an adapter of your own",
		Long:  conformLong,
		Example: `  dlmtest conform --backend etcd
  dlmtest conform --library redislock --runtime local
  dlmtest conform --backend redis --runtime local -- python3 examples/adapters/redis_py.py
  dlmtest conform --backend redis --adapter-files ./mine --client-image mine:1 -- python3 /adapter/mine.py
  dlmtest conform --endpoint localhost:6379 -- ./my-adapter
  dlmtest conform --backend http --endpoint http://192.0.2.7:8080`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && cmd.ArgsLenAtDash() != 0 {
				return usageError{fmt.Errorf("unexpected argument %q; the command of an adapter stands after --", args[0])}
			}
			f.Adapter = args
			return f.run(cmd)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.backend, "backend", "", "lock to test, or whose servers the adapter needs (see dlmtest list)")
	flags.StringVar(&f.Library, "library", "", "lock library to test (see dlmtest list libraries)")
	flags.StringSliceVar(&f.Endpoints, "endpoint", nil,
		"`host:port` of a server that runs already: for an adapter, or with --backend http or grpc your own lock service")
	flags.StringVar(&f.lease, "lease", "2s", "lease of the lock")
	settingFlags(cmd, &f.Settings, "adapter-files", "client-image", "compose", "allow-host", "runtime")
	flags.BoolVar(&f.json, "json", false, "print JSON instead of text")
	_ = cmd.RegisterFlagCompletionFunc("library", complete(libraries.Names()))
	_ = cmd.RegisterFlagCompletionFunc("backend", complete(backends()))
	return cmd
}

func (f *conformFlags) run(cmd *cobra.Command) error {
	d, err := fixedLease(f.lease)
	if err != nil {
		return err
	}
	if cmd.Flags().Changed("library") && f.Library == "" {
		return usageError{errors.New("--library is empty: name a library of dlmtest list libraries, or leave the flag out for the backend's own lock")}
	}
	if len(f.Endpoints) > 0 && len(f.Adapter) > 0 {
		return f.onEndpoints(cmd, d)
	}
	if len(f.Endpoints) > 0 && f.backend == "" && f.Library == "" {
		return usageError{errors.New("--endpoint says where servers are, and not what is tested there: add -- and the " +
			"command of your adapter, or --backend http or grpc for your lock service")}
	}
	if len(f.Adapter) > 0 && (f.Library != "" || f.backend == "") {
		return usageError{errors.New("an adapter needs --backend, which says what servers it uses, or --endpoint; --library names another lock")}
	}
	lock, err := oneLock(f.backend, f.Library)
	if err != nil {
		return err
	}
	if err := isFolder(f.Files); err != nil {
		return err
	}
	o := runner.Options{Settings: f.Settings, Backend: lock.backend, Self: self(), Version: version, Seed: newSeed()}
	o.Library, o.Oracle = lock.library, "off"
	o.Scenario.Lease = d
	out, err := runner.Conform(cmd.Context(), o, newProgress(f.json))
	if err != nil {
		return err
	}
	return f.tell(cmd.OutOrStdout(), o.Label(), *out)
}

// fixedLease reads a lease as that of a scenario is read.
func fixedLease(text string) (scenarios.Duration, error) {
	s, err := scenarios.Load("baseline")
	if err != nil {
		return scenarios.Duration{}, err
	}
	if s.Lease, err = scenarios.ParseDuration(text); err != nil {
		return s.Lease, usageError{fmt.Errorf("--lease: %w", err)}
	}
	if err := s.Validate(); err != nil {
		return s.Lease, usageError{fmt.Errorf("--lease %s: %w", text, err)}
	}
	return s.Lease, nil
}

// onEndpoints asks an adapter on this machine.
func (f *conformFlags) onEndpoints(cmd *cobra.Command, lease scenarios.Duration) error {
	lock := locks.Lock{}
	if f.backend != "" {
		one, err := oneLock(f.backend, "")
		if err != nil {
			return err
		}
		lock = locks.Table[one.backend]
	}
	out := workloads.ConformAdapter(cmd.Context(), lock, protocol.Command{Argv: f.Adapter},
		locks.Config{Endpoints: f.Endpoints, Lease: lease.Of(0), Client: "conform", Seed: newSeed()})
	if cmd.Context().Err() != nil {
		return errors.New("the suite did not end, so nothing is said of the adapter")
	}
	return f.tell(cmd.OutOrStdout(), "the adapter", out)
}

// tell prints what was found.
func (f *conformFlags) tell(w io.Writer, what string, c workloads.Conformed) error {
	if err := f.print(w, what, c); err != nil {
		return err
	}
	if len(c.Findings) > 0 {
		return verdictError{verdict: checker.Violated}
	}
	return nil
}

func (f *conformFlags) print(w io.Writer, what string, c workloads.Conformed) error {
	if f.json {
		return json.NewEncoder(w).Encode(c)
	}
	if c.Hello != nil && c.Hello.Name != "" {
		fmt.Fprintln(w, visible.Line(fmt.Sprintf("%s is %s %s and offers %v", what, c.Hello.Name, c.Hello.Library, c.Hello.Offers)))
	}
	for _, x := range c.Findings {
		fmt.Fprintf(w, "\n%s: %s\n", visible.Line(x.Check), indented(x.Problem))
		if x.Todo != "" {
			fmt.Fprintf(w, "    what to do: %s\n", indented(x.Todo))
		}
		if x.About != "" {
			fmt.Fprintf(w, "    the check: %s\n", indented(x.About))
		}
	}
	for _, x := range c.NotAsked {
		fmt.Fprintf(w, "\n%s: not asked: %s\n", visible.Line(x.Check), indented(x.Why))
	}
	_, err := fmt.Fprintf(w, "%s: %d of %d checks failed\n", what, len(c.Findings), c.Checks)
	return err
}

// indented keeps further lines of a text from looking like lines of ours.
func indented(text string) string { return strings.ReplaceAll(text, "\n", "\n    ") }

// oneLock resolves the one lock that two flags name.
func oneLock(backend, library string) (underTest, error) {
	var on, named []string
	if backend != "" {
		on = []string{backend}
	}
	if library != "" {
		named = []string{library}
	}
	all, err := chooseLocks(on, named)
	if err == nil && len(all) != 1 {
		err = usageError{errors.New("one lock is tested at a time: name one backend and one library")}
	}
	if err != nil {
		return underTest{}, err
	}
	return all[0], nil
}
