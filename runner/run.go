package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/scratch"
	"github.com/dlmtest/dlmtest/internal/secret"
	"github.com/dlmtest/dlmtest/nemesis/agent"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/figures"
)

// Outcome is a run that reached a judgement.
type Outcome struct {
	Dir    string // the run's folder
	Run    reports.Run
	Setup  history.Setup
	Ops    []history.Op
	Result checker.Result
	// Figures is what was measured; results.json holds it beside the judgement.
	Figures figures.Figures
	// Lingered is how much longer than its time the load has taken: see Options.Linger.
	Lingered time.Duration
	// Passed are the messages that went through the clients' links, where they had some.
	Passed []agent.Passed
}

// Run runs one scenario against one backend, from an empty network to a saved
// verdict. A cancel of ctx heals, tears down and judges what there is. An error
// is dlmtest's own and says nothing about the lock.
func Run(ctx context.Context, o Options, p Progress) (*Outcome, error) {
	entry, err := o.lock()
	if err != nil {
		return nil, err
	}
	plan, err := newPlan(ctx, o, entry)
	if err != nil {
		return nil, err
	}
	in, err := newFolder(o.Out, o.Scenario.Name, o.Label(), time.Now())
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }() // all that was written is closed
	dir := in.Name()
	defer scratch.Hold(dir)()
	rec, err := newRecorder(filepath.Join(dir, partFile), plan.setup)
	if err != nil {
		return nil, err
	}
	rec.hide = secret.Filter(plan.secrets())
	started, timed := time.Now(), &phases{Progress: p}
	p = timed
	run := plan.begun(dir, plan.Runtime, started)
	if err := saveRun(in, run); err != nil {
		return nil, NoRoom(err, o.startAgain())
	}
	stage, err := up(ctx, plan, rec, dir, p)
	if err != nil {
		_, recErr := rec.close()
		return nil, errors.Join(err, recErr, neverUp(in, run, err, rec.hide))
	}
	if err := saveRun(in, stage.describe(started, false)); err != nil { // with its nodes
		return nil, errors.Join(NoRoom(err, o.startAgain()), stage.down(context.WithoutCancel(ctx)))
	}
	if !o.Part {
		if err := Link(dir, "latest"); err != nil {
			return nil, errors.Join(NoRoom(err, o.startAgain()), stage.down(context.WithoutCancel(ctx)))
		}
	}
	interrupted, loadErr := stage.through(ctx, p)
	p.Phase("Taking the cluster down")
	downErr := stage.leave(context.WithoutCancel(ctx), loadErr == nil && !interrupted)
	ops, recErr := rec.close()
	for _, err := range []error{loadErr, recErr} {
		if err != nil && !errors.Is(err, rec.blame()) { // of an adapter's fault the history tells
			rec.doubt(err.Error()) // what was seen is judged, and nothing of it is green
		}
	}
	run = stage.describe(started, interrupted)
	run.State = reports.Ended
	saveErr := saveBoth(in, plan.setup, ops, run) // the verdict comes all the same
	p.Phase("Judging")
	out, err := judge(ctx, in, run, plan.setup, ops, rec.doubted(), plan.oracle(), func(out *Outcome) {
		out.Run.Phases = timed.over()
		if len(out.Result.Found()) > 0 {
			p.Phase(out.Verdict() + "; looking for the smallest histories that show it")
		}
	})
	if out != nil {
		out.Passed, out.Lingered = stage.passed, stage.lingered
	}
	return out, errors.Join(stage.shared(loadErr), recErr, downErr, saveErr, err)
}

// saveBoth saves the history and the run before the judgement: a run that is killed while it is judged has ended.
func saveBoth(in *os.Root, setup history.Setup, ops []history.Op, run reports.Run) error {
	err := saveHistory(in, setup, ops)
	if err != nil {
		err = fmt.Errorf("%w; what was recorded is in %s", err, filepath.Join(in.Name(), partFile))
	}
	return NoRoom(errors.Join(err, saveRun(in, run)), "dlmtest check "+in.Name())
}

// startAgain is what to do where the disk is full before anything was recorded; "": whoever asked for the run says that.
func (o Options) startAgain() string {
	if o.Part {
		return ""
	}
	return "start it again"
}

// through takes the clients through the load and what follows it, until all that records
// has nothing more to tell. interrupted: ctx ended before the load did.
func (s *stage) through(ctx context.Context, p Progress) (interrupted bool, err error) {
	err = s.load(ctx, p)
	interrupted = ctx.Err() != nil
	if err == nil {
		p.Phase("Healed; acquiring every key once more")
		limit := readyLimit
		if interrupted || 2*s.lost > len(s.servers) { // somebody waits, or too few servers are left to answer
			limit = 2 * checker.Patience(s.lease)
		}
		err = s.finish(context.WithoutCancel(ctx), limit)
	}
	if ended := s.endedServers(p); err == nil { // since the load's last look
		err = ended
	}
	s.drain(context.WithoutCancel(ctx), interrupted, p)
	if blamed := s.rec.blame(); err == nil { // an adapter shows at the end whether it ends
		err = blamed
	}
	return interrupted, err
}
