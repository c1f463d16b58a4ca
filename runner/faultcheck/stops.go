package faultcheck

import (
	"slices"

	"github.com/dlmtest/dlmtest/runner/faultcheck/outside"
)

// relatives are all that a pause or a kill of a node must reach.
var relatives = []string{"main", "thread", "child", "daemon"}

// pause: nothing of the node has run, by its own gaps, and by /proc of the machine.
func (s *seen) pause(k *strike) []Row {
	from, to := k.window()
	c := k.check("the longest gaps of main, thread, child and daemon cover the pause", k.proof)
	var lengths []int64
	for _, name := range relatives {
		beats := by(s.of(k.target, outside.Beat, outside.Gap), name)
		ran := between(beats, from, to)
		c.unless(len(ran) == 0, "%s ran %d times while it was said to stand", name, len(ran))
		if !c.alive(k, beats, "%s", name) {
			continue
		}
		for _, r := range beats {
			if r.What == outside.Gap && r.From <= from && r.At >= to {
				lengths = append(lengths, r.At-r.From)
			}
		}
	}
	c.unless(len(lengths) == len(relatives) || c.State != Agrees, "%d of %d have a gap as long as the pause", len(lengths), len(relatives))
	c.measured("gaps of %s", spread(lengths, ms))
	return []Row{c.Row, s.watched(k)}
}

// stall: the worker asks its lock client for nothing, while that runs on.
func (s *seen) stall(k *strike) []Row {
	from, to := k.window()
	c := k.check("the lock client is asked for nothing, and runs on", k.proof)
	calls := s.of(k.target, outside.Call)
	c.alive(k, calls, "a call")
	c.unless(len(between(calls, from, to)) == 0, "it was asked %d times", len(between(calls, from, to)))
	ran := by(between(s.of(k.target, outside.Beat, outside.Gap), from, to), "main")
	c.unless(len(ran) > 0, "it stood still itself")
	c.measured("%d calls, seen running %d times", len(between(calls, from, to)), len(ran))
	return []Row{c.Row}
}

// kill: nothing is heard of any process of the node, and those that come are others.
func (s *seen) kill(k *strike) []Row {
	from, to := k.window()
	c := k.check("no process of before is heard of again; new ones come after the heal", k.proof)
	all := s.of(k.target, outside.Beat, outside.Gap)
	old := map[int64]bool{}
	for _, r := range between(all, 0, k.begun) {
		old[r.Born] = true
	}
	heard := slices.DeleteFunc(between(all, from, to), func(r outside.Record) bool { return !old[r.Born] })
	c.unless(len(heard) == 0, "%d records of before came while it was said to be dead", len(heard))
	var came []string
	for _, r := range between(all, to, to+soon) {
		c.unless(!old[r.Born], "%s of before runs on", r.Who)
		if !slices.Contains(came, r.Who) {
			came = append(came, r.Who)
		}
	}
	c.unless(len(came) == len(relatives), "after the heal came %v", came)
	// New ones may be heard of just before the heal is told, which is when they all run.
	if next := first(all, from); next != nil {
		silent := next.At - last(all, next.At)
		c.unless(silent >= k.asked-5e6, "new ones came too soon")
		c.measured("silent for %s", ms(silent))
	}
	return []Row{c.Row}
}

// last is the time of the last record before a time.
func last(all []outside.Record, before int64) (at int64) {
	for _, r := range all {
		if r.At < before {
			at = r.At
		}
	}
	return at
}
