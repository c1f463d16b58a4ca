package nemesis

import (
	"context"
	"fmt"
	"slices"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/nemesis/agent"
)

// waits notes which client waits for which key: it has asked and was not answered.
// f.mu is held.
func (f *Feed) waits(op *history.Op) {
	switch {
	case op.F == history.Acquire || op.F == history.Try:
		if op.Type == history.Invoke {
			f.waiting[op.Node] = op.Key
		} else {
			delete(f.waiting, op.Node)
		}
	case op.Fault != nil && op.Fault.Phase == history.Begin && op.Fault.Kind == "kill":
		delete(f.waiting, op.Fault.Target) // the dead wait for nothing
	}
}

// Waiting names the clients that wait for a key, in order; "" means any key.
func (f *Feed) Waiting(key string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []string
	for node, k := range f.waiting {
		if k == key || key == "" {
			all = append(all, node)
		}
	}
	slices.Sort(all)
	return all
}

// waiter picks a client that waits for the key of the hit, or for any where there
// was none. If nobody does, it waits for one.
func (s Stage) waiter(ctx context.Context, at *agent.Hit) ([]Victim, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.Limit, fmt.Errorf("no client waited for the lock within %v", s.Limit))
	defer cancel()
	sub := s.Feed.Subscribe()
	defer sub.Close()
	for {
		waiting := s.Feed.Waiting(at.Key)
		if found := slices.DeleteFunc(slices.Clone(s.Clients), func(v Victim) bool { return !slices.Contains(waiting, v.Name()) }); len(found) > 0 {
			return s.some(found, 1)
		}
		if _, err := sub.Wait(ctx, "a client that waits", func(e Event) bool { return e.Op != nil && e.Op.Type == history.Invoke }); err != nil {
			return nil, err
		}
	}
}

// member picks a server that the holder has its lock from, by asking each: who is
// held at its checkpoint keeps its lock meanwhile.
func (s Stage) member(ctx context.Context, at *agent.Hit) ([]Victim, error) {
	if at.Owner == "" {
		return nil, fmt.Errorf("the target %q needs a trigger that a holder passes, such as acquired", quorumMember)
	}
	holds := map[string]bool{} // a server that does not answer may hold it, and may not
	var last error
	for _, v := range s.Servers {
		owner, err := s.Holds(ctx, v, at.Key)
		holds[v.Name()] = err == nil && owner == at.Owner
		if err != nil {
			last = err
		}
	}
	found := slices.DeleteFunc(slices.Clone(s.Servers), func(v Victim) bool { return !holds[v.Name()] })
	if len(found) == 0 {
		return nil, fmt.Errorf("no server says that it holds the lock for %s: %s", at.Owner, fmt.Sprint(last))
	}
	return s.some(found, 1)
}

// quorumMember is the role of a server that the holder has its lock from.
const quorumMember = "a-quorum-member-of-the-holder"
