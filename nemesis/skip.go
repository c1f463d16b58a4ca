package nemesis

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/nemesis/agent"
)

// impossible is why a fault could not be begun although nothing is broken: nobody
// leads, no client reached its checkpoint, another fault is in the way. A written fault is
// then missed, for its scenario counted on it. One of a random schedule is skipped:
// who draws at random draws such faults too.
type impossible struct{ error }

func (e impossible) Unwrap() error { return e.error }

// unless turns what kept a fault from beginning into impossible.
func unless(err error) error {
	if err == nil {
		return nil
	}
	return impossible{err}
}

// came says what to record of a fault that ended with err.
func (f Fault) came(id int, err error) history.Op {
	phase := history.Missed
	if no := (impossible{}); f.Random && errors.As(err, &no) {
		phase = history.Skipped
	}
	return history.Op{F: history.Fault, Type: history.Note, Error: err.Error(),
		Fault: &history.FaultNote{ID: id, Kind: f.Kind, Target: f.Target, Phase: phase, Proof: err.Error()}}
}

// sufferings are what each node suffers now. They keep a fault of a random schedule
// from being begun on some of its victims and refused on others.
type sufferings struct {
	mu  sync.Mutex
	all []suffering
}

type suffering struct {
	node, kind string
	fault      int
	forGood    bool // a killed client
}

// admit enters a fault on its victims. With optional it is refused, and nothing is
// entered, if one of them suffers what would spoil its proof.
func (s *sufferings) admit(id int, kind string, nodes []string, optional bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.all {
		if !optional || !slices.Contains(nodes, x.node) {
			continue
		}
		if x.forGood {
			return fmt.Errorf("%s was killed by fault %d", x.node, x.fault)
		}
		if agent.Clash(x.kind, kind, true) {
			return fmt.Errorf("%s suffers a %s from fault %d, and the proof of one would spoil the other's", x.node, x.kind, x.fault)
		}
	}
	for _, n := range nodes {
		s.all = append(s.all, suffering{node: n, kind: kind, fault: id})
	}
	return nil
}

// leave takes a fault out again. Clients that it killed stay dead, unless they come back.
func (s *sufferings) leave(id int, f Fault, clients []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = slices.DeleteFunc(s.all, func(x suffering) bool {
		return x.fault == id && (f.Params.Back || !(x.kind == "kill" && slices.Contains(clients, x.node)))
	})
	for i := range s.all {
		s.all[i].forGood = s.all[i].forGood || s.all[i].fault == id
	}
}
