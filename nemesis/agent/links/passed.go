package links

import "github.com/dlmtest/dlmtest/nemesis/agent/links/wire"

// Passed is a message by which a fault can be triggered: its direction, and what its
// protocol calls it.
type Passed struct {
	Direction Direction `json:"direction"`
	Name      string    `json:"name"`
	Contains  string    `json:"contains,omitempty"` // the call that a request of HTTP/2 begins, as it has no name of its own
}

// A client may invent names without end; protocols have fewer, and shorter ones.
const (
	mostNames = 256
	longName  = 64
)

// came counts messages.
func (l *Link) came(dir Direction, all []wire.Message) {
	if len(all) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range all {
		p := Passed{Direction: dir, Name: m.Name}
		if dir == Request && m.Name == "HEADERS" && len(m.Body) <= longName {
			p.Contains = string(m.Body)
		}
		if _, known := l.passed[p]; known || len(l.passed) < mostNames && len(m.Name) <= longName {
			l.passed[p]++
		}
	}
}

// Passed says which messages have come on the link so far, and how often.
func (l *Link) Passed() map[Passed]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make(map[Passed]int, len(l.passed))
	for m, n := range l.passed {
		all[m] = n
	}
	return all
}
