package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/clusters"
	"github.com/dlmtest/dlmtest/internal/whole"
)

// endGrace is how long a command without a cluster may take to end by itself: then what
// it began is cleaned up by whoever began it.
const endGrace = 200 * time.Millisecond

// interruption is the one place that decides what a signal does.
type interruption struct {
	now     atomic.Pointer[ending] // of the command that goes on; nil: none has begun
	stop    context.CancelFunc
	over    chan struct{} // closed when the command has ended by itself
	came    atomic.Bool   // a signal
	signals chan os.Signal
	exit    func(code int)
}

// interrupts has signals end what runs under the context that it returns.
func interrupts() (context.Context, *interruption) {
	ctx, stop := context.WithCancel(context.Background())
	i := &interruption{stop: stop, over: make(chan struct{}), signals: make(chan os.Signal, 2), exit: os.Exit}
	signal.Notify(i.signals, os.Interrupt, syscall.SIGTERM)
	go i.watch()
	return ctx, i
}

// begin says which command goes on from now.
func (i *interruption) begin(cmd *cobra.Command, _ []string) {
	e := endingOf(cmd)
	i.now.Store(&e)
}

// done is called when the command has ended by itself, and returns its exit code: one
// that a signal has ended has no verdict, whatever it made of being cut short.
func (i *interruption) done(code int) int {
	signal.Stop(i.signals)
	close(i.over)
	i.stop()
	if e := i.now.Load(); e != nil && e.atOnce && i.came.Load() {
		return e.code
	}
	return code
}

func (i *interruption) watch() {
	<-i.signals
	i.came.Store(true)
	e := ends
	if begun := i.now.Load(); begun != nil {
		e = *begun
	}
	if words := e.said(clusters.Guarded()); words != "" {
		fmt.Fprintln(stderr, "\n"+words)
	}
	i.stop()
	if grace, soon := e.grace(clusters.Begun()); soon {
		select {
		case <-i.over: // main returns its exit code
		case <-i.signals:
			i.end(e.code)
		case <-time.After(grace):
			i.end(e.code)
		}
		return
	}
	<-i.signals
	if clusters.Guarded() {
		fmt.Fprintln(stderr, "stopped; what is left of the cluster is removed in the background")
	} else {
		fmt.Fprintln(stderr, "stopped")
	}
	i.end(exitFailed)
}

// grace is how long a command may take to end by itself, where that is limited: one that
// was to have a cluster, and never came so far, has nothing to heal and nothing to judge.
func (e ending) grace(cluster bool) (limit time.Duration, limited bool) {
	if e.atOnce {
		return endGrace, true
	}
	return 2 * endGrace, e.words != "" && !cluster
}

// said is what the first signal prints: nothing that is not true of this command now.
func (e ending) said(cluster bool) string {
	if e.words == "" || e.atOnce || cluster {
		return e.words
	}
	return "interrupted: ending with what there is; once more to stop at once"
}

// end ends the process, whatever it does. What is only half written goes, and so do the
// children of a command that has no cluster; those of one that has are the janitor's.
func (i *interruption) end(code int) {
	whole.Abandon()
	if !clusters.Guarded() {
		killChildren(os.Getpid())
	}
	i.exit(code)
}
