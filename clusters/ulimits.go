package clusters

import (
	"maps"
	"math"
	"slices"
	"strconv"
)

// ulimit is what a compose file may say of one.
type ulimit struct {
	most  int64 // more is refused, with --allow-host too
	plain bool  // it only takes from a node, or its share of memory and processes counts it
}

// unlimited is no bound at all, which a file writes as -1.
const unlimited = math.MaxInt64

// ulimits are those of getrlimit(2). What is not plain takes from the machine what no
// share counts: memory of the kernel for each user, or the processors of everybody.
var ulimits = map[string]ulimit{
	"core": {1 << 30, true}, "fsize": {unlimited, true}, "memlock": {unlimited, true}, "nproc": {unlimited, true}, "stack": {unlimited, true},
	"nofile":     {1 << 20, true}, // more the kernel refuses: fs.nr_open
	"as":         {unlimited, false},
	"cpu":        {unlimited, false},
	"data":       {unlimited, false},
	"locks":      {unlimited, false},
	"rss":        {unlimited, false},
	"rttime":     {unlimited, false},
	"msgqueue":   {64 << 20, false},
	"sigpending": {1 << 20, false},
	"nice":       {20, false}, // as low as a usual process' own, 0
	"rtprio":     {1, false},  // above it nobody else would run
}

// lookUlimit is for the whole of one, in both forms.
func lookUlimit(x *examined, at place, value any) {
	name := at[len(at)-1]
	limit, known := ulimits[name]
	if !known {
		x.problem(at, "no ulimit is called %q; there are %v", name, slices.Sorted(maps.Keys(ulimits)))
		return
	}
	values, both := value.(map[string]any)
	if !both {
		values = map[string]any{"": value}
	}
	for _, of := range slices.Sorted(maps.Keys(values)) {
		words := text(values[of])
		n, err := strconv.ParseInt(words, 10, 64)
		if n == -1 {
			n = unlimited
		}
		if err != nil || n < 0 || n > limit.most {
			x.problem(at, "%q is not a number from 0 to %d%s", words, limit.most, map[bool]string{true: ", or -1 for no limit"}[limit.most == unlimited])
			return
		}
	}
	if !limit.plain {
		x.reach(at, "the ulimit %q of %s", name, text(value))
	}
}
