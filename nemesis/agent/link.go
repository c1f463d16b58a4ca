package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/nemesis/agent/links"
	"github.com/dlmtest/dlmtest/nemesis/agent/links/wire"
)

// Link is the child's way to one server, through its agent.
type Link struct {
	Name     string        `json:"name"`     // of the far node
	Upstream string        `json:"upstream"` // where that node is, host:port
	Protocol wire.Protocol `json:"protocol,omitempty"`
	Listen   string        `json:"listen"` // where the child finds it, host:port
}

// LinkFault is what the faults of links need to know.
type LinkFault struct {
	To     []string      `json:"to,omitempty"`     // the far nodes: all these links suffer, or with When the one on which the message comes first
	When   links.When    `json:"when,omitzero"`    // hold-request, hold-answer, cut-link: the message that it waits for
	RTT    time.Duration `json:"rtt,omitempty"`    // latency: added to each round trip
	Jitter time.Duration `json:"jitter,omitempty"` // latency: and varied by as much, up or down
	Rate   int64         `json:"rate,omitempty"`   // bandwidth: bytes a second
}

// waits says that the fault begins with a message. One that lies has no eyes for it.
func (a Arm) waits() bool { return a.Link != nil && !a.Link.When.Now() && !a.Lie }

// clashes says that a node cannot suffer both: they would undo each other's proof.
func (a Arm) clashes(b Arm) bool {
	switch {
	case a.Kind == Hold || b.Kind == Hold:
		return false
	case a.Link != nil && b.Link != nil && !slices.ContainsFunc(a.Link.To, func(to string) bool { return slices.Contains(b.Link.To, to) }):
		return false
	}
	return Clash(a.Kind, b.Kind, b.Optional)
}

// ways are the open links of a node.
type ways struct {
	open  *links.Links
	specs map[string]Link
}

// openLinks opens them once: a child that is started again finds them as they were.
// a.mu is held.
func (a *agent) openLinks(spec *Child) error {
	if len(spec.Links) == 0 || a.ways != nil {
		return nil
	}
	w := &ways{specs: map[string]Link{}}
	upstreams := map[string]string{}
	o := links.Options{Unparsed: a.unparsed, Listen: map[string]string{}, Protocol: map[string]wire.Protocol{}, Seed: spec.Seed}
	for _, l := range spec.Links {
		w.specs[l.Name], upstreams[l.Name], o.Listen[l.Name], o.Protocol[l.Name] = l, l.Upstream, l.Listen, l.Protocol
	}
	var err error
	if w.open, err = links.Open(upstreams, o); err == nil {
		a.ways = w
	}
	return err
}

// unparsed records that faults which wait for messages on a link will wait in vain.
func (a *agent) unparsed(u links.Unparsed) {
	a.note(history.Op{F: history.Unparsed, Error: u.String()})
}

// passed lists what went through the links, in no order. a.mu is held.
func (a *agent) passed() (all []Passed) {
	if a.ways == nil {
		return nil
	}
	for name := range a.ways.specs {
		l, err := a.ways.open.Link(name)
		if err != nil {
			continue
		}
		for m, n := range l.Passed() {
			all = append(all, Passed{Passed: m, To: name, Count: n})
		}
	}
	return all
}

func (a *agent) closeLinks() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ways != nil {
		_ = a.ways.open.Close() // the node ends
	}
}

// linkFault is one fault on some links of the child.
type linkFault struct {
	arm    Arm
	ways   *ways
	faults map[string]*links.Fault // by the far node
	healed chan struct{}           // closed by heal
	said   chan bool               // what the runner answers to whether a message is to be struck
}

// answer passes on what the runner says; nobody may have asked, or it comes twice.
func (f *linkFault) answer(strike bool) {
	select {
	case f.said <- strike:
	default:
	}
}

// ask asks the runner whether this client's message is to be struck. The message
// stands on its link meanwhile. Nothing here takes the agent's lock: the answer does.
func (a *agent) ask(s *active, f *linkFault) bool {
	hit := &Hit{Fault: s.arm.Fault, Checkpoint: s.arm.Checkpoint, At: history.Raw()}
	if s.checkpoint != nil {
		hit.Key, hit.Owner = s.checkpoint.Key, s.checkpoint.Owner
	}
	a.out.send(Message{Asks: hit})
	strike := false
	select {
	case strike = <-f.said:
	case <-f.healed:
	case <-time.After(s.arm.askLimit()):
	}
	if !strike {
		a.letGo(s.checkpoint, s.arm.Kind, hit.At)
	}
	a.stood("the message of the "+s.arm.Kind, hit.At)
	return strike
}

// onLink injects each kind into one link.
var onLink = map[string]func(l *links.Link, p LinkFault) (*links.Fault, error){
	"latency":      func(l *links.Link, p LinkFault) (*links.Fault, error) { return l.Latency(p.RTT, p.Jitter) },
	"bandwidth":    func(l *links.Link, p LinkFault) (*links.Fault, error) { return l.Bandwidth(p.Rate) },
	"reset":        func(l *links.Link, _ LinkFault) (*links.Fault, error) { return l.Reset() },
	"blackhole":    func(l *links.Link, _ LinkFault) (*links.Fault, error) { return l.Blackhole() },
	"hold-request": func(l *links.Link, p LinkFault) (*links.Fault, error) { return l.HoldRequest(p.When) },
	"hold-answer":  func(l *links.Link, p LinkFault) (*links.Fault, error) { return l.HoldAnswer(p.When) },
	"cut-link":     func(l *links.Link, p LinkFault) (*links.Fault, error) { return l.CutOn(p.When) },
}

func injectLink(a *agent, s *active) (fault, error) {
	if a.ways == nil || s.arm.Link == nil {
		return nil, fmt.Errorf("%s: the node's child was not started with links", s.arm.Kind)
	}
	f := &linkFault{arm: s.arm, ways: a.ways, faults: map[string]*links.Fault{}, healed: make(chan struct{}), said: make(chan bool, 1)}
	p := *s.arm.Link
	p.When.Turn = links.NewTurn(p.When.Skip)
	if s.arm.Asks {
		p.When.Turn.Ask = func() bool { return a.ask(s, f) }
	}
	for _, name := range p.To {
		l, err := a.ways.open.Link(name)
		if err != nil {
			return f, err
		}
		if s.arm.Lie {
			continue
		}
		if f.faults[name], err = onLink[s.arm.Kind](l, p); err != nil {
			delete(f.faults, name)
			return f, err
		}
		if s.waits {
			go a.await(s, f.faults[name], f.healed)
		}
	}
	return f, nil
}

// await begins a fault when its message comes. What the message strikes is in force
// by then; only the telling of it is left.
func (a *agent) await(s *active, f *links.Fault, healed <-chan struct{}) {
	select {
	case <-healed:
	case hit := <-f.Hit():
		a.mu.Lock()
		defer a.mu.Unlock()
		if !slices.Contains(a.held, s) {
			return // called off meanwhile
		}
		a.run(s, hit.At)
		a.last(s)
		told := &Hit{Fault: s.arm.Fault, Checkpoint: s.arm.Checkpoint, At: hit.At}
		if s.checkpoint != nil {
			told.Key, told.Owner = s.checkpoint.Key, s.checkpoint.Owner
		}
		a.out.send(Message{Hit: told})
	}
}

// giveUp ends a fault whose message did not come in time.
func (a *agent) giveUp(s *active) {
	a.mu.Lock()
	waits := s.waits && slices.Contains(a.held, s)
	if waits {
		a.tell(s, history.Missed, 0, fmt.Sprintf("no such message went through the links to %s within %v",
			strings.Join(s.arm.Link.To, ", "), s.arm.Limit)+s.deaf())
	}
	a.mu.Unlock()
	if waits { // else it has come just now
		a.finish(s)
	}
}

// deaf is why a message may have gone through unseen.
func (s *active) deaf() (why string) {
	f, ok := s.fault.(*linkFault)
	if !ok {
		return ""
	}
	for _, name := range s.arm.Link.To {
		if on := f.faults[name]; on != nil && on.Trouble() != "" {
			why += fmt.Sprintf("; what goes to and from %s is not understood: %s", name, on.Trouble())
		}
	}
	return why
}

// prove: what the child itself sent or was sent has met the fault on one of the
// links; for a latency, and a round trip through that link takes as long.
func (f *linkFault) prove() (string, bool) {
	var told []string
	seen := false
	for _, name := range f.arm.Link.To {
		text, met := f.proveOn(name)
		if text != "" {
			told = append(told, name+": "+text)
		}
		seen = seen || met
	}
	if len(told) == 0 {
		return fmt.Sprintf("%s: nothing of the client has met it on its links to %s", f.arm.Kind, strings.Join(f.arm.Link.To, ", ")), false
	}
	return strings.Join(told, "; "), seen
}

func (f *linkFault) proveOn(name string) (string, bool) {
	on := f.faults[name]
	if on == nil {
		return "", false // a lie
	}
	p := on.Proof()
	if !p.Seen() || f.arm.Kind == "blackhole" && p.Bytes == 0 { // a connection that says nothing has lost nothing
		return p.Trouble, false
	}
	if f.arm.Kind != "latency" {
		return p.String(), true
	}
	text, slow := f.measure(name)
	return p.String() + text, slow
}

// measure sends a ping through a link and says whether it takes as long as the
// latency wants. Where no ping is known, or nobody answers, the delays that the
// client's own messages have met must do.
func (f *linkFault) measure(name string) (string, bool) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*(f.arm.Link.RTT+f.arm.Link.Jitter)+time.Second)
	defer cancel()
	spec := f.ways.specs[name]
	trip, err := links.Measure(ctx, spec.Listen, spec.Protocol)
	if err != nil {
		return ", its round trip cannot be measured: " + err.Error(), true
	}
	least := f.arm.Link.RTT - f.arm.Link.Jitter
	text := fmt.Sprintf(", a round trip takes %.1f ms", ms(trip))
	if direct, err := links.Measure(ctx, spec.Upstream, spec.Protocol); err == nil {
		text += fmt.Sprintf(", past the link %.1f ms", ms(direct))
	}
	return text, trip >= least
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// heal delivers what was held.
func (f *linkFault) heal() (string, error) {
	close(f.healed)
	var errs []error
	for _, on := range f.faults {
		errs = append(errs, on.Heal())
	}
	if strings.HasPrefix(f.arm.Kind, "hold-") {
		return "what was held goes on its way", errors.Join(errs...)
	}
	return "", errors.Join(errs...)
}
