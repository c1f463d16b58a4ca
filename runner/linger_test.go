package runner

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/history"
)

// A load lingers while somebody waits for a key that was granted to nobody for more than a lease, until the judge knows: a fault that
// ends is a new begin, who was granted it last may still work, and where all is well nothing takes longer.
func TestLingering(t *testing.T) {
	const lease = int64(time.Second)
	op := func(at int64, f history.F, kind history.Type) history.Op {
		return history.Op{Time: at * lease / 10, Node: "client-1", Key: "k", F: f, Type: kind}
	}
	heal := func(at int64) history.Op {
		return history.Op{Time: at * lease / 10, F: history.Fault, Type: history.Note, Fault: &history.FaultNote{ID: 1, Kind: "partition", Phase: history.Heal}}
	}
	cut := func(at int64) history.Op {
		return history.Op{Time: at * lease / 10, F: history.Fault, Type: history.Note, Fault: &history.FaultNote{ID: 1, Kind: "partition", Phase: history.Begin}}
	}
	free := []history.Op{op(1, history.Acquire, history.Invoke), op(2, history.Acquire, history.OK), op(3, history.Release, history.Invoke), op(4, history.Release, history.OK)}
	held := []history.Op{op(1, history.Acquire, history.Invoke), op(4, history.Acquire, history.OK)}
	waits := op(5, history.Acquire, history.Invoke)
	other := waits
	other.Key = "ready-client-1"
	for name, c := range map[string]struct {
		ops  []history.Op
		now  int64 // tenths of a lease
		want bool
	}{
		"free, nobody waits":        {free, 20, false},
		"free, somebody waits":      {append(free, waits), 20, true},
		"but not for a lease yet":   {append(free, waits), 13, false},
		"and was refused":           {append(free, waits, op(9, history.Acquire, history.Fail)), 20, true},
		"long enough for the judge": {append(free, waits), 4 + 10*6, false},
		"never granted, and asked for again": {[]history.Op{op(1001, history.Acquire, history.Invoke), op(1002, history.Acquire, history.Fail),
			op(1015, history.Try, history.Invoke), op(1016, history.Try, history.Fail)}, 1020, true},
		"a fault was over since":                           {append(free, waits, heal(18)), 20, false},
		"a cut was over, and connections may not flow yet": {append(free, waits, cut(5), heal(25)), 4 + 10*6 + 25, true},
		"they have flowed for long enough":                 {append(free, waits, cut(5), heal(25)), 4 + 10*6 + 50, false},
		"an acquire with no known outcome":                 {append(free, waits, op(30, history.Acquire, history.Info), waits), 4 + 10*6, true},
		"and long enough since it ended":                   {append(free, waits, op(30, history.Acquire, history.Info), waits), 30 + 10*6, false},
		"held, and its holder may work":                    {append(held, waits), 20, false},
		"held for too long":                                {append(held, waits), 40, true},
		"held and renewed":                                 {append(held, waits, op(30, history.Extend, history.OK)), 40, false},
		"a release came to nothing":                        {append(held, waits, op(6, history.Release, history.Fail)), 20, true},
		"somebody waits for a key of its own":              {append(free, other), 20, false},
	} {
		t.Run(name, func(t *testing.T) {
			setup := history.Setup{Keys: []string{"k"}}
			rec, err := newRecorder(filepath.Join(t.TempDir(), partFile), setup)
			if err != nil {
				t.Fatal(err)
			}
			for _, op := range c.ops {
				rec.addOp(op)
			}
			s := &stage{plan: &plan{Options: Options{Linger: true}, lease: time.Duration(lease), setup: setup}, rec: rec}
			l := s.lingering()
			l.look()
			if got := l.stuck(c.now * lease / 10); got != c.want {
				t.Errorf("stuck: %v, want %v", got, c.want)
			}
		})
	}
}
