package runner

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/clusters"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/visible"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/say"
	"github.com/dlmtest/dlmtest/scenarios"
)

// Saved is a run as it can be done again: what decided it, and what it has shown.
type Saved struct {
	Dir     string
	Options Options  // without Out, Self, Version and Command, which are the caller's
	Trusted []string // what the folder names and Given.Trust let pass, a line each
	Run     reports.Run
	Result  checker.Result
}

// Replayable reads what decides a saved run. An error says what is missing, and what
// to do instead. It is ErrTrust where the folder names programs, files, images or
// endpoints, which are neither built in nor given nor trusted.
func Replayable(dir string, given Given) (*Saved, error) {
	in, err := openFolder(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }() // it was read
	if _, err := in.Stat(runFile); err != nil {
		return nil, fmt.Errorf("%w: this is no run's folder, or an older dlmtest was killed; without %s it cannot be done again", err, runFile)
	}
	if StillGoing(in) {
		return nil, fmt.Errorf("%s: the run is still going on; do it again when it has ended", dir)
	}
	s := &Saved{Dir: dir}
	if s.Run, err = readRun(in); err != nil {
		return nil, err
	}
	r := s.Run.Repeat
	if r == nil {
		return nil, fmt.Errorf("%s: an older dlmtest wrote %s, without all that decides the run; repeat it by its command instead: %s",
			dir, runFile, visible.Line(say.Shell(s.Run.Command)))
	}
	if s.Result, err = readResults(in); errors.Is(err, ErrNotJudged) && s.Run.State == reports.Killed {
		s.Result, err = glance(in, s.Run)
	}
	if err != nil {
		return nil, err
	}
	scenario, err := scenarios.Parse(filepath.Join(dir, runFile)+": repeat.scenario", []byte(r.Scenario))
	if err != nil {
		return nil, err
	}
	if !scenario.Settings.IsZero() {
		return nil, fmt.Errorf("%s: repeat.scenario: settings: those of a run stand beside its scenario", filepath.Join(dir, runFile))
	}
	s.Options = Options{Scenario: *scenario, Backend: s.Run.Backend, Seed: s.Run.Seed, Settings: r.Settings, Lie: r.Lie}
	s.Options.Library = libraryOf(r, s.Run)
	s.Options.Oracle = cmp.Or(r.Oracle, "off") // an older dlmtest wrote nothing for it
	if err := s.Options.known(); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, runFile), err)
	}
	if err := s.accept(given); err != nil {
		return nil, err
	}
	return s, s.sameCompose()
}

// libraryOf is the library under test; where the user's own adapter was, it has given
// the lock its name, and is none that could be asked for.
func libraryOf(r *reports.Repeat, run reports.Run) string {
	if len(r.Adapter) > 0 {
		return ""
	}
	library := cmp.Or(r.Library, run.Library)
	if library == history.Reference {
		return "" // as it is asked for: not at all
	}
	return library
}

// known refuses words that no run has: a file can hold anything.
func (o Options) known() error {
	if _, err := o.lock(); err != nil {
		return err
	}
	for _, p := range o.Check() {
		return fmt.Errorf("repeat.%s: %q: %s", p.Field.JSON, p.Value, p.Want)
	}
	if o.Etcd != "" {
		if err := clusters.CheckEtcd(o.Etcd); err != nil {
			return fmt.Errorf("repeat.etcd: %w", err)
		}
	}
	return nil
}

// sameCompose wants the user's compose file to be what it was.
func (s *Saved) sameCompose() error {
	sum, err := composeSum(s.Options.Compose)
	if err != nil {
		return fmt.Errorf("the compose file of the run: %w", err)
	}
	if sum == noFile {
		return fmt.Errorf("the compose file of the run was %s, %s, and cannot be read again; run its command anew: %s",
			s.Options.Compose, noFile, visible.Line(say.Shell(s.Run.Command)))
	}
	if was := s.Run.Repeat.ComposeSum; sum != was {
		return fmt.Errorf("%s has changed since the run (SHA-256 %s, then %s): bring it back, or run its command anew: %s",
			s.Options.Compose, sum, was, visible.Line(say.Shell(s.Run.Command)))
	}
	return nil
}

// noFile is in place of the sum of what can be read once, such as <(a command).
const noFile = "no plain file"

// composeSum is the SHA-256 of a compose file; "" of none.
func composeSum(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return noFile, err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), err
}

// repeat is what decides this run, for run.json.
func (p *plan) repeat(where string) *reports.Repeat {
	s := p.asDrawn()
	r := &reports.Repeat{Settings: p.Stored(), Scenario: string(s.YAML()), ComposeSum: p.sum, Lie: p.Lie}
	r.Runtime = where
	return r
}
