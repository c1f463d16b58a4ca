// Package matrix runs many scenarios against many backends, goes on after
// failures, and keeps one index of what each cell has shown.
package matrix

import (
	"context"
	"sync"
)

// Work is how jobs are done, several at a time or one by one.
type Work[J any] struct {
	Parallel int          // jobs at a time; 0 and 1: one by one, in order
	Fewer    bool         // each job that the machine disturbed lets one fewer go on at a time, down to one
	Alone    func(J) bool // nothing else may run beside this job
	// Do does a job; again says that it is done for the second time. It returns
	// true when the machine disturbed it, and it is then done once more.
	Do func(ctx context.Context, job J, again bool) bool
}

// Run does all jobs and returns, in order, those that it had not begun when ctx
// ended. Jobs that share the machine go first, then those that must be alone, one by
// one; so what was disturbed by its company is repeated alone.
func (w Work[J]) Run(ctx context.Context, jobs []J) (left []J) {
	single := jobs
	var repeats, unbegun []J
	if w.Parallel > 1 {
		var company []J
		single = nil
		for _, j := range jobs {
			if w.Alone(j) {
				single = append(single, j)
			} else {
				company = append(company, j)
			}
		}
		repeats, unbegun = w.together(ctx, company)
	}
	for _, j := range repeats {
		if ctx.Err() == nil {
			w.Do(ctx, j, true)
		}
	}
	for i, j := range single {
		if ctx.Err() != nil {
			return append(unbegun, single[i:]...)
		}
		if w.Do(ctx, j, false) && ctx.Err() == nil {
			w.Do(ctx, j, true)
		}
	}
	return unbegun
}

// together does jobs, as many at a time as it may, begun in their order. It
// returns those to repeat and those that were not begun.
func (w Work[J]) together(ctx context.Context, jobs []J) (repeats, unbegun []J) {
	next, workers := 0, w.Parallel
	var lock sync.Mutex
	take := func() (job J, ok bool) {
		lock.Lock()
		defer lock.Unlock()
		if next == len(jobs) || ctx.Err() != nil {
			return job, false
		}
		next++
		return jobs[next-1], true
	}
	var all sync.WaitGroup
	for range w.Parallel {
		all.Go(func() {
			for job, ok := take(); ok; job, ok = take() {
				if !w.Do(ctx, job, false) {
					continue
				}
				lock.Lock()
				repeats = append(repeats, job)
				ends := w.Fewer && workers > 1
				if ends {
					workers--
				}
				lock.Unlock()
				if ends {
					return
				}
			}
		})
	}
	all.Wait()
	return repeats, jobs[next:]
}
