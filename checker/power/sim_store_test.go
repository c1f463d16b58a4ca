package power

import "github.com/dlmtest/dlmtest/history"

// store is the guarded resource with its two copies.
type store struct {
	*node
	unfenced, fenced string
	before           [2]string // what stood there before
	top              int64
}

func newStore(w *world) *store { return &store{node: w.node("resource")} }

func (s *store) read(owner string, token int64) (unfenced, fenced history.Copy) {
	s.record(history.Op{Type: history.Note, F: history.ReadSeen, Key: "k", Owner: owner, Token: token})
	if s.before[0] != "" && s.is("stale-read", .1) {
		s.world.planted++
		return history.Copy{Value: s.before[0]}, history.Copy{Value: s.before[1]}
	}
	return history.Copy{Value: s.unfenced}, history.Copy{Value: s.fenced}
}

func (s *store) write(op history.Op) (unfenced, fenced history.Copy) {
	accepted := op.Token >= s.top
	switch {
	case !accepted && s.is("stale-accepted", 1):
		s.world.planted++
		accepted = true
	case accepted && s.lock.find(op.Owner) != nil && s.is("valid-refused", .1):
		s.world.planted++
		accepted = false
	}
	note := history.Op{Type: history.Note, F: history.Apply, Key: "k", Owner: op.Owner, Token: op.Token, Value: op.Value,
		Unfenced: &history.Copy{Base: op.Unfenced.Base, Previous: s.unfenced, Accepted: true},
		Fenced:   &history.Copy{Base: op.Fenced.Base, Previous: s.fenced, Accepted: accepted}}
	was := [2]string{s.unfenced, s.fenced}
	forgets := s.is("lost-update", .1)
	if s.unfenced = op.Value; accepted {
		s.fenced, s.top = op.Value, max(s.top, op.Token)
	}
	note.Fenced.Token = s.top
	s.record(note)
	if forgets {
		s.world.planted++
		s.unfenced, s.fenced = was[0], was[1]
	}
	s.before = was
	return history.Copy{Accepted: true}, history.Copy{Accepted: accepted}
}
