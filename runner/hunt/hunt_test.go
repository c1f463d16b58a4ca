package hunt

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/golden"
	"github.com/dlmtest/dlmtest/internal/settings"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/scenarios"
)

// world answers runs without a cluster.
type world struct {
	t             *testing.T
	mu            sync.Mutex
	runs          map[string]int // by the name of the lock
	running, most int            // runs at a time
	takes         time.Duration  // each run
	disturbs      func(running int) bool
	unmet         func(o runner.Options) bool // its faults do not strike
	endless       func(o runner.Options) bool // its lock ends no lease
	// shows says what a lock violates in a trial.
	shows func(o runner.Options) []string
	fails error
	after func()
}

func (w *world) run(ctx context.Context, o runner.Options, _ runner.Progress) (*runner.Outcome, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.runs[o.Label()]++
	w.running++
	w.most = max(w.most, w.running)
	w.mu.Unlock()
	time.Sleep(max(w.takes, time.Millisecond)) // so that others begin meanwhile
	w.mu.Lock()
	defer func() { w.running-- }()
	if w.after != nil {
		w.after()
	}
	if w.fails != nil {
		return nil, w.fails
	}
	dir, err := runner.NewFolder(o.Out, "run", time.Now())
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, runner.HistoryFile), []byte(o.Scenario.Name), 0o644)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	out := &runner.Outcome{Dir: dir, Setup: history.Setup{Lease: time.Second, Clients: []string{"client-1"},
		Promise: history.Promise{Leased: w.endless == nil || !w.endless(o)}}}
	violated := w.shows(o)
	for _, p := range []string{"mutual-exclusion", "one-leader", "release-by-owner", "no-deadlock"} {
		verdict := checker.Holds
		if slices.Contains(violated, p) {
			verdict = checker.Violated
		}
		out.Result.Properties = append(out.Result.Properties, checker.Property{Name: p, Verdict: verdict})
	}
	if w.disturbs != nil && w.disturbs(w.running) {
		for i := range out.Result.Properties {
			out.Result.Properties[i] = checker.Property{Name: out.Result.Properties[i].Name, Disturbed: true}
		}
	}
	if len(o.Scenario.Faults) > 0 && (w.unmet == nil || !w.unmet(o)) {
		f := history.FaultNote{ID: 1, Kind: o.Scenario.Faults[0].Fault, Target: "client-1", Phase: history.Observed}
		out.Ops = []history.Op{{Type: history.Note, F: history.Fault, Time: 1, Fault: &f}}
	}
	return out, nil
}

// listener keeps what a hunt says.
type listener struct{ said []string }

func (*listener) Tried(Tried, *Report) {}
func (l *listener) Says(line string)   { l.said = append(l.said, line) }

// hunting is a hunt of a broken lock in the world, for as many runs as it may make.
func hunting(t *testing.T, w *world, dir string, most int) *Hunt {
	t.Helper()
	ctx := t.Context()
	w.t, w.runs = t, map[string]int{}
	s := Spec{Options: runner.Options{Backend: "broken/no-owner-check", Settings: settings.Default()}, Dir: dir,
		Seed: 7, For: time.Hour,
		Watch: &listener{}, Run: w.run, Applies: runner.Applies}
	if err := s.ForLock(ctx); err != nil {
		t.Fatal(err)
	}
	h, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	was := w.after
	w.after = func() {
		if was != nil {
			was()
		}
		if most--; most <= 0 { // the time of the search is over
			h.mu.Lock()
			h.begun = time.Now().Add(-2 * h.For)
			h.mu.Unlock()
		}
	}
	return h
}

func (w *world) renewing(o runner.Options) []string {
	if o.Backend == "redis" || o.Scenario.Clients < 3 {
		return []string{"mutual-exclusion"} // what every leased lock shows
	}
	return []string{"mutual-exclusion", "release-by-owner"}
}

// What this lock alone shows is found once, however often it comes; what the reference shows,
// too, is dismissed, and in time not looked into any more. A session that goes on knows it all.
func TestHuntAndResume(t *testing.T) {
	dir, w := t.TempDir(), &world{}
	w.shows = w.renewing
	h := hunting(t, w, dir, 60)
	if err := h.Go(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := h.Report
	if len(r.Findings) != 1 || r.Findings[0].Property != "release-by-owner" ||
		r.Findings[0].ReferenceOf == 0 || r.Findings[0].ReferenceFound != 0 {
		all, _ := json.Marshal(r.Findings)
		t.Fatalf("%s", all)
	}
	if len(r.Left) != 1 || r.Left[0].Decision != Shared || r.Left[0].Times <= dismissals || w.runs["redis"] > 10 {
		t.Errorf("%+v, the reference ran %d times", r.Left, w.runs["redis"])
	}
	if said := h.Watch.(*listener).said; !slices.Contains(said, "no finding, mutual-exclusion: "+r.Left[0].Why) {
		t.Errorf("why it is none is not told: %q", said)
	}
	trials, _, err := readTrials(golden.Root(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, tried := range trials {
		kept, err := os.ReadFile(filepath.Join(dir, SeenDir, fmt.Sprintf("trial-%d.jsonl", tried.Number)))
		owed := slices.Contains(tried.Violated, "release-by-owner")
		if owed != (err == nil) || owed && !strings.Contains(tried.Scenario, "name: "+string(kept)) {
			t.Errorf("trial %d violated %q, and its history is %q: %v", tried.Number, tried.Violated, kept, err)
		}
	}
	s, err := scenarios.Load(filepath.Join(dir, r.Findings[0].Scenario))
	if err != nil || s.Clients < 3 || s.Expected["broken/no-owner-check"]["release-by-owner"].Verdict != checker.Violated {
		t.Errorf("%v %+v", err, s)
	}
	again := hunting(t, w, dir, 20)
	if again.Report.Next != r.Next || again.pool.Features() != h.pool.Features() {
		t.Errorf("it goes on at trial %d with %d features, want %d and %d", again.Report.Next, again.pool.Features(),
			r.Next, h.pool.Features())
	}
	if err := again.Go(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := again.Report; got.Trials <= r.Trials || len(got.Findings) != 1 || got.Findings[0].Again <= r.Findings[0].Again-1 {
		t.Errorf("%d trials after %d, %+v", got.Trials, r.Trials, got.Findings)
	}
}

// With time left, a finding is made as small as it can be while the reference does not show it.
func TestFindingIsMadeSmall(t *testing.T) {
	w := &world{}
	w.shows = w.renewing
	h := hunting(t, w, t.TempDir(), 1<<30)
	h.For = 3 * time.Second
	if err := h.Go(t.Context()); err != nil {
		t.Fatal(err)
	}
	f := h.Report.Findings[0]
	if !f.Shrunk || !strings.HasPrefix(f.Size, "0 faults, 3 clients, 1 key") || f.Found != proofs || f.Of != proofs {
		t.Errorf("%+v", f)
	}
}

// Ctrl-C keeps what there is, and says that it was one.
func TestInterrupted(t *testing.T) {
	dir, w := t.TempDir(), &world{}
	w.shows = w.renewing
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	w.after = func() {
		if n++; n == 12 {
			cancel()
		}
	}
	h := hunting(t, w, dir, 1<<30)
	if err := h.Go(ctx); err != nil {
		t.Fatal(err)
	}
	r, err := Read(dir)
	if err != nil || r.Trials == 0 || !strings.Contains(r.Stopped, "interrupted") {
		t.Errorf("%v %+v", err, r)
	}
}

// A cluster that does not come up, or a lock that never grants, ends the hunt with the reason.
func TestEachTrialFails(t *testing.T) {
	dir, w := t.TempDir(), &world{fails: errors.New("the cluster did not come up")}
	h := hunting(t, w, dir, 1<<30)
	if err := h.Go(t.Context()); err != nil {
		t.Fatal(err)
	}
	r, err := Read(dir)
	if err != nil || !strings.Contains(r.Stopped, "did not come up") || r.Little == "" || w.runs["broken/no-owner-check"] > mostBroken+1 { // a lease more is asked for
		t.Errorf("%v %+v, %d runs", err, r, w.runs["broken/no-owner-check"])
	}
}

// A lock that says only when it is opened that a lease is too short is hunted with a longer one.
func TestLeaseIsRefusedLate(t *testing.T) {
	w := &world{shows: func(o runner.Options) []string {
		if o.Scenario.Lease.Fixed < time.Second {
			t.Errorf("%s has a lease of %s", o.Scenario.Name, o.Scenario.Lease)
		}
		return nil
	}}
	w.fails = errors.New("leases are whole seconds here")
	h := hunting(t, w, t.TempDir(), 12)
	w.after = func(was func()) func() {
		return func() {
			if was(); w.runs[h.Options.Label()] > 1 {
				w.fails = nil
			}
		}
	}(w.after)
	if err := h.Go(t.Context()); err != nil || h.Report.Trials == 0 || h.Report.Failed > 0 {
		t.Errorf("%v %+v", err, h.Report)
	}
}

// A hunt of another lock is not gone on with.
func TestResumeOfAnotherLock(t *testing.T) {
	dir := t.TempDir()
	h := hunting(t, &world{}, dir, 1)
	h.Report.Lock = "etcd"
	if err := h.Report.Save(golden.Root(t, dir)); err != nil {
		t.Fatal(err)
	}
	if _, err := New(h.Spec); !errors.Is(err, runner.ErrUsage) {
		t.Errorf("%v", err)
	}
}

// Another user who may change a hunt's folder could make a link of a part while it goes on.
func TestResumeOfSomebodysFolder(t *testing.T) {
	for _, name := range []string{".", runsDir, findingsDir, SeenDir} {
		dir := t.TempDir()
		h := hunting(t, &world{}, dir, 1)
		part := filepath.Join(dir, name)
		if err := errors.Join(h.Report.Save(golden.Root(t, dir)), os.MkdirAll(part, 0o755)); err != nil {
			t.Fatal(err)
		}
		refused := func(why string) {
			if _, err := New(h.Spec); !errors.Is(err, runner.ErrUsage) || !strings.Contains(err.Error(), "another user can change") {
				t.Errorf("%s, %s: %v", name, why, err)
			}
		}
		if err := os.Chmod(part, 0o777); err != nil {
			t.Fatal(err)
		}
		refused("everybody may write")
		if err := errors.Join(os.Chmod(part, 0o755), os.Chown(part, 12345, -1)); err == nil { // as root
			refused("it is another user's")
			err = os.Chown(part, os.Getuid(), -1)
			if err != nil {
				t.Fatal(err)
			}
		}
		if _, err := New(h.Spec); err != nil {
			t.Errorf("%s, its own again: %v", name, err)
		}
	}
}

// A hunt's folder that came from elsewhere makes nobody remove or cut what its links lead to.
func TestResumeFollowsNoLink(t *testing.T) {
	for _, name := range []string{runsDir, trialsFile, ReportFile, findingsDir, SeenDir, filepath.Join(findingsDir, "trial-1-x")} {
		dir, outside := t.TempDir(), t.TempDir()
		h := hunting(t, &world{}, dir, 1)
		precious, link := filepath.Join(outside, "notes"), filepath.Join(dir, name)
		err := errors.Join(h.Report.Save(golden.Root(t, dir)), os.WriteFile(precious, []byte("no line end"), 0o600), os.MkdirAll(filepath.Dir(link), 0o755), os.RemoveAll(link))
		to := outside
		if filepath.Ext(name) != "" {
			to = precious
		}
		if err = errors.Join(err, os.Symlink(to, link)); err != nil {
			t.Fatal(err)
		}
		if _, err := New(h.Spec); !errors.Is(err, runner.ErrUsage) || !strings.Contains(err.Error(), link) {
			t.Errorf("%s: %v", name, err)
		}
		if text, err := os.ReadFile(precious); err != nil || string(text) != "no line end" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}

// hunt.json as scripts read it.
func TestReportGolden(t *testing.T) {
	dir := t.TempDir()
	r := &Report{Format: Format, Lock: "redis/mine", Settings: map[string]any{"runtime": "local"}, Version: "v1",
		Command: []string{"dlmtest", "hunt"}, Seed: 7,
		Started: time.Date(2026, 11, 22, 21, 0, 0, 0, time.UTC), Seconds: 60, Trials: 12, Next: 13, Runs: 20, Features: 99,
		Findings: []*Finding{{Property: "release-by-owner", Cause: "release-by-owner: zombie",
			Message: "<b>client-1</b> released it", Why: "the service itself owes it",
			Scenario: "mine.yaml", Command: []string{"dlmtest", "run", "--scenario",
				"it is.yaml"}, Size: "0 faults", Found: 3, Of: 3, ReferenceOf: 3, Seconds: 30, Trial: 5, Shrunk: true, Run: "runs/1",
			Story: []Turn{{At: 1.5, Who: "<i>client-1</i>", What: "acquires"}}},
			{Property: "honest-claims", Cause: "honest-claims: zombie", Message: "of the same trial", Why: "the service itself owes it", Scenario: "other.yaml",
				Command: []string{"dlmtest", "run"}, Size: "0 faults", Found: 2, Of: 3, Seconds: 31, Trial: 5}},
		Left: []*Dismissed{{Property: "mutual-exclusion", Cause: "mutual-exclusion: pause", Decision: Shared,
			Why: "the reference lock shows it too", Times: 4}},
		coverage: map[Cover]Cover{}}
	fault := scenarios.Scenario{Faults: []scenarios.Fault{{Fault: "pause", On: "acquired", Count: 2},
		{Fault: "kill", On: "at", Count: 1}}}
	note := func(id int, p history.Phase) history.Op {
		return history.Op{Fault: &history.FaultNote{ID: id, Phase: p}}
	}
	r.cover(fault, []history.Op{note(1, history.Missed), note(2, history.Observed), note(3, history.Skipped)})
	picture := []byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`)
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "mine.svg"), picture, 0o644), r.Save(golden.Root(t, dir))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{ReportFile, "index.md", "index.html"} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if name == "index.html" {
			got = got[bytes.Index(got, []byte("<header>")):] // behind the styles of every page
		}
		golden.Compare(t, filepath.Join("testdata", name), got)
		if name == "index.html" && (bytes.Contains(got, []byte("<b>client-1")) || bytes.Contains(got, []byte("<i>client-1"))) {
			t.Error("the page shows what others wrote as it is")
		}
	}
	back, err := Read(dir)
	a, _ := json.Marshal(r)
	b, _ := json.Marshal(back)
	if err != nil || !bytes.Equal(a, b) || len(back.coverage) != 2 {
		t.Errorf("%v\n%s\n%s", err, a, b)
	}
}

// What a history shows: who did what in which phase, and how near two beliefs came.
func TestSee(t *testing.T) {
	setup := history.Setup{Lease: 1000, Keys: []string{"k"}, Clients: []string{"a", "b"},
		Promise: history.Promise{Leased: true, Token: true}}
	op := func(at int64, node string, p int, kind history.Type, f history.F, more func(*history.Op)) history.Op {
		o := history.Op{Time: at, Node: node, Process: p, Type: kind, F: f, Key: "k"}
		if more != nil {
			more(&o)
		}
		return o
	}
	grant := func(owner string, token, sent int64) func(*history.Op) {
		return func(o *history.Op) {
			o.Owner, o.Token, o.Sent, o.Lease, o.Deadline = owner, token, sent, 1000, sent+1000
		}
	}
	pause := func(phase history.Phase) func(*history.Op) {
		return func(o *history.Op) {
			o.Key, o.Fault = "", &history.FaultNote{ID: 1, Kind: "pause", Target: "a", Phase: phase}
		}
	}
	ops := []history.Op{
		op(0, "a", 1, history.Invoke, history.Acquire, nil), op(10, "a", 1, history.OK, history.Acquire,
			grant("x", 1, 1)),
		op(20, "b", 2, history.Invoke, history.Acquire, nil), op(30, "", 0, history.Note, history.Fault,
			pause(history.Begin)),
		op(1500, "b", 2, history.OK, history.Acquire, grant("y", 5, 1400)), op(1600, "", 0, history.Note,
			history.Fault, pause(history.Observed)),
		op(1601, "a", 1, history.Invoke, history.Extend, func(o *history.Op) { o.Owner = "x" }),
		op(1700, "a", 1, history.Fail, history.Extend, func(o *history.Op) {
			o.Owner, o.Error = "x",
				"not held since 12.3 s"
		}),
		op(1800, "", 0, history.Note, history.Fault, pause(history.Heal)),
	}
	for i := range ops {
		ops[i].Index = i
	}
	s := See(setup, ops, checker.Result{})
	for _, want := range []string{"acquire invoke > acquire ok, beside client pause",
		"extend fail: not held since # s, in pause", "pause observed", "tokens skipped: +9"} {
		if !slices.Contains(s.Features, want) {
			t.Errorf("%q is not in\n%s", want, strings.Join(s.Features, "\n"))
		}
	}
	if s.Gap >= 0 || s.Wait != 1.48 || s.Grants != 2 {
		t.Errorf("gap %v, wait %v, grants %d", s.Gap, s.Wait, s.Grants)
	}
	var p Pool
	if fresh := p.Add(1, scenarios.Scenario{}, s); fresh != len(s.Features) || len(p.kept) != 1 {
		t.Errorf("%d new of %d, %d kept", fresh, len(s.Features), len(p.kept))
	}
	if fresh := p.Add(1, scenarios.Scenario{}, s); fresh != 0 || len(p.kept) != 1 {
		t.Errorf("the same again: %d new, %d kept", fresh, len(p.kept))
	}
}
