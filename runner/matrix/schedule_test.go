package matrix

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// diary is what a fake Do has seen.
type diary struct {
	mu      sync.Mutex
	done    []int
	repeats []int
	now     atomic.Int32
	most    int32 // at a time
}

func (d *diary) note(job int, again bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.done = append(d.done, job)
	if again {
		d.repeats = append(d.repeats, job)
	}
}

func numbers(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

func TestOneByOneKeepsTheOrder(t *testing.T) {
	var d diary
	w := Work[int]{Alone: func(j int) bool { return j%2 == 1 }, Do: func(_ context.Context, j int, again bool) bool {
		d.note(j, again)
		return j == 2
	}}
	if left := w.Run(t.Context(), numbers(4)); len(left) != 0 || !slices.Equal(d.done, []int{0, 1, 2, 2, 3}) || !slices.Equal(d.repeats, []int{2}) {
		t.Errorf("done %v, repeated %v, left %v", d.done, d.repeats, left)
	}
}

// Jobs that must be alone are, repeats too, and the others really run side by side.
func TestTogetherAndAlone(t *testing.T) {
	var d diary
	var meet sync.WaitGroup // two at a time, or this never ends
	meet.Add(2)
	w := Work[int]{Parallel: 2, Alone: func(j int) bool { return j >= 10 }}
	w.Do = func(_ context.Context, j int, again bool) bool {
		d.mu.Lock()
		d.most = max(d.most, d.now.Add(1))
		d.mu.Unlock()
		if j < 2 && !again {
			meet.Done()
			meet.Wait()
		}
		if (j >= 10 || again) && d.now.Load() != 1 {
			t.Errorf("job %d is not alone", j)
		}
		d.note(j, again)
		d.now.Add(-1)
		return j == 1 || j == 11 // each time: but only one repeat
	}
	if left := w.Run(t.Context(), []int{10, 0, 1, 11, 2, 3}); len(left) != 0 {
		t.Errorf("left %v", left)
	}
	if d.most != 2 || !slices.Equal(d.done[4:], []int{1, 10, 11, 11}) || !slices.Equal(d.repeats, []int{1, 11}) {
		t.Errorf("at most %d at a time; done %v, repeated %v", d.most, d.done, d.repeats)
	}
}

func TestCancelLeavesTheRest(t *testing.T) {
	for _, parallel := range []int{1, 2} {
		ctx, cancel := context.WithCancel(t.Context())
		var d diary
		w := Work[int]{Parallel: parallel, Alone: func(j int) bool { return j == 4 }, Do: func(ctx context.Context, j int, again bool) bool {
			d.note(j, again)
			if j == 1 {
				cancel()
			}
			if parallel > 1 {
				<-ctx.Done() // each that runs sees it
			}
			return true // and is not repeated
		}}
		left := w.Run(ctx, numbers(5))
		if want := []int{2, 3, 4}; !slices.Equal(left, want) {
			t.Errorf("parallel %d: left %v, want %v; done %v", parallel, left, want, d.done)
		}
		if slices.Contains(d.repeats, 1) {
			t.Errorf("parallel %d: repeated %v after the cancel", parallel, d.repeats)
		}
	}
}

// Where a matrix has chosen itself how many jobs go on at a time, each that was disturbed lets one fewer, down to one.
func TestFewerAfterADisturbedJob(t *testing.T) {
	for fewer, want := range map[bool]int32{true: 1, false: 3} {
		var d diary
		var first sync.WaitGroup // three at a time
		first.Add(3)
		w := Work[int]{Parallel: 3, Fewer: fewer, Alone: func(int) bool { return false }}
		w.Do = func(_ context.Context, j int, again bool) bool {
			d.note(j, again)
			if j < 3 && !again {
				first.Done()
				first.Wait()
				return true
			}
			now := d.now.Add(1)
			d.mu.Lock()
			d.most = max(d.most, now)
			d.mu.Unlock()
			time.Sleep(10 * time.Millisecond)
			d.now.Add(-1)
			return false
		}
		if left := w.Run(t.Context(), numbers(12)); len(left) != 0 || len(d.done) != 15 || len(d.repeats) != 3 || d.most != want {
			t.Errorf("fewer %v: done %v, repeated %v, left %v, %d at a time at the end", fewer, d.done, d.repeats, left, d.most)
		}
	}
}
