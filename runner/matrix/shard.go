package matrix

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/pages"
	"github.com/dlmtest/dlmtest/runner"
)

// Shard is a part of a matrix that is split over several machines: number Index of
// Count, from 1. The zero value is the whole.
type Shard struct{ Index, Count int }

// String is the shard as --shard has it: "2/5".
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Count) }

// mostShards is a bound against slips.
const mostShards = 10_000

// ParseShard reads a shard such as 2/5.
func ParseShard(text string) (Shard, error) {
	index, count, ok := strings.Cut(text, "/")
	i, err := strconv.Atoi(index)
	n, err2 := strconv.Atoi(count)
	if !ok || err != nil || err2 != nil {
		return Shard{}, fmt.Errorf("%q is no shard: want i/n such as 2/5, or auto", text)
	}
	return Shard{i, n}.valid(text)
}

func (s Shard) valid(text string) (Shard, error) {
	if s.Count < 1 || s.Count > mostShards || s.Index < 1 || s.Index > s.Count {
		return Shard{}, fmt.Errorf("%q is no shard: want i/n with i from 1 to n, and n up to %d", text, mostShards)
	}
	return s, nil
}

// CountVariable says how many shards a Kubernetes Indexed Job has, which Kubernetes
// itself does not tell its pods.
const CountVariable = "DLMTEST_SHARDS"

// ShardOf finds the shard in the variables of a Kubernetes Indexed Job, whose index
// counts from 0, or of a GitLab job with parallel:, which counts from 1.
func ShardOf(variable func(string) (string, bool)) (Shard, error) {
	pod, isPod := variable("JOB_COMPLETION_INDEX")
	node, isNode := variable("CI_NODE_INDEX")
	switch {
	case isPod && isNode:
		return Shard{}, errors.New("both JOB_COMPLETION_INDEX and CI_NODE_INDEX are set; say --shard i/n")
	case isPod:
		i, err := strconv.Atoi(pod)
		total, ok := variable(CountVariable)
		if !ok {
			return Shard{}, fmt.Errorf("JOB_COMPLETION_INDEX is set and %s is not: set it to the job's completions", CountVariable)
		}
		n, err2 := strconv.Atoi(total)
		if err := errors.Join(err, err2); err != nil {
			return Shard{}, fmt.Errorf("JOB_COMPLETION_INDEX %q and %s %q are no numbers", pod, CountVariable, total)
		}
		return Shard{i + 1, n}.valid(fmt.Sprintf("JOB_COMPLETION_INDEX %s of %s %s", pod, CountVariable, total))
	case isNode:
		total, _ := variable("CI_NODE_TOTAL")
		return ParseShard(node + "/" + total)
	}
	return Shard{}, fmt.Errorf("neither JOB_COMPLETION_INDEX (with %s) nor CI_NODE_INDEX (with CI_NODE_TOTAL) is set; say --shard i/n", CountVariable)
}

// Split puts each of some pieces of work into one of n shards, from 1: the longest
// first, each where there is the least so far. Equal ones keep their order, so that the
// same work is split alike everywhere. (R. L. Graham, Bounds on multiprocessing timing
// anomalies, 1969: the fullest shard has at most 4/3 of what the best split gives it.)
func Split(work []time.Duration, n int) []int {
	order := make([]int, len(work))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(work[b], work[a]) })
	full := make([]time.Duration, n)
	pieces := make([]int, n)
	in := make([]int, len(work))
	for _, i := range order {
		least := 0
		for s := range n {
			if cmp.Or(cmp.Compare(full[s], full[least]), cmp.Compare(pieces[s], pieces[least])) < 0 {
				least = s
			}
		}
		full[least] += work[i]
		pieces[least]++
		in[i] = least + 1
	}
	return in
}

// shard leaves the runs of the other shards out. All shards plan the whole and split it
// alike, so that a merge can tell what is missing.
func (m *matrix) shard() error {
	s := m.spec.Shard
	if s == (Shard{}) {
		return nil
	}
	if s.Count > m.state.Total {
		return fmt.Errorf("%w: --shard %v: the matrix has only %d runs; use as many shards at most", runner.ErrUsage, s, m.state.Total)
	}
	var work []time.Duration
	plan := &pages.Shard{Index: s.Index, Count: s.Count}
	for i, c := range m.index.Cells {
		for _, r := range c.Runs {
			plan.Plan = append(plan.Plan, pages.PlannedRun{Scenario: c.Scenario, Backend: c.Backend, Seed: r.Seed})
			work = append(work, m.takes(i))
		}
	}
	for i, shard := range Split(work, s.Count) {
		plan.Plan[i].Shard = shard
		if shard == s.Index {
			plan.Expected += work[i]
		}
	}
	m.index.Shard = plan
	m.keep(s.Index)
	return nil
}

// keep leaves the runs of one shard in the index, and what is counted of them.
func (m *matrix) keep(shard int) {
	plan := m.index.Shard.Plan // in the order of the cells and their runs
	m.state.Total, m.left = 0, [2]int{}
	for i := range m.index.Cells {
		c := &m.index.Cells[i]
		all := c.Runs
		c.Runs = nil
		for n, r := range all {
			if plan[n].Shard != shard {
				continue
			}
			c.Runs = append(c.Runs, r)
			m.state.Total++
			if r.Verdict == reports.Waiting {
				m.left[side(*c)]++
			}
		}
		plan = plan[len(all):]
		if len(all) > 0 && len(c.Runs) == 0 {
			c.Verdict = reports.Elsewhere
		}
	}
}

// takes is how long a run of a cell is expected to keep the machine: as long as in an
// earlier matrix, or as its scenario says. One that shares the machine takes its share.
func (m *matrix) takes(cell int) time.Duration {
	o := m.spec.Cells[cell]
	c := m.index.Cells[cell]
	d := m.spec.Timings[c.Name()]
	if d <= 0 {
		d = Expected(o)
	}
	if !c.Alone {
		d /= time.Duration(max(1, m.spec.Parallel))
	}
	return d
}

// aroundLoad is about what it takes to start a cluster, to acquire every key at the
// end, to take it down and to judge.
const aroundLoad = 5 * time.Second

// Expected is how long a run should take, by its scenario.
func Expected(o runner.Options) time.Duration {
	s := o.Scenario
	lease := s.Lease.Of(0)
	healed := s.Random.For.Of(lease)
	for _, f := range s.Faults {
		one := f.For.Max.Of(lease)
		if f.For.Until != "" { // it is seen long before
			one = f.For.Min.Of(lease)
		}
		end := f.At.Of(lease) + time.Duration(max(f.Count, 1))*(one+f.Every.Of(lease))
		if f.On == "every" {
			end = time.Duration(max(f.Count, 1)) * f.At.Of(lease)
		}
		healed = max(healed, end)
	}
	load := s.Duration.Of(lease)
	if len(s.Faults)+len(s.Random.Mix) > 0 {
		load = max(load, healed+s.After.Of(lease))
	}
	return load + aroundLoad
}

// Timings are how long the runs of each cell took in an earlier matrix, in the mean.
func Timings(x pages.Index) map[string]time.Duration {
	all := map[string]time.Duration{}
	for _, c := range x.Cells {
		var sum time.Duration
		n := 0
		for _, r := range c.Runs {
			if r.Took > 0 && r.Verdict != reports.NotRun {
				sum += r.Took
				n++
			}
		}
		if n > 0 {
			all[c.Name()] = sum / time.Duration(n)
		}
	}
	return all
}
