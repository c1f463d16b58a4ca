package nemesis

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/nemesis/agent"
)

// fakeNode stands for a node: it keeps what it was told and tells what it is made to.
type fakeNode struct {
	name string
	feed *Feed

	mu    sync.Mutex
	told  []agent.Command
	armed chan agent.Arm // each arming
	dead  bool
}

func (n *fakeNode) Name() string    { return n.name }
func (n *fakeNode) Address() string { return "10.0.0." + n.name[len(n.name)-1:] }

func (n *fakeNode) Command(_ context.Context, c agent.Command) error {
	n.mu.Lock()
	n.told = append(n.told, c)
	dead := n.dead
	n.mu.Unlock()
	if dead {
		return errors.New(n.name + ": its agent has ended")
	}
	switch c.Do {
	case agent.ArmCheckpoint, agent.Inject:
		n.armed <- *c.Arm
	case agent.Heal:
		n.feed.Publish(Event{Node: n.name, Over: &agent.Over{Fault: c.Fault}})
	}
	return nil
}

func (n *fakeNode) count(do agent.Do) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	count := 0
	for _, c := range n.told {
		if c.Do == do {
			count++
		}
	}
	return count
}

// resumed counts the ends of one fault.
func (n *fakeNode) resumed(fault int) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	count := 0
	for _, c := range n.told {
		if (c.Do == agent.Heal || c.Do == agent.Cancel) && c.Fault == fault {
			count++
		}
	}
	return count
}

func (n *fakeNode) hit(fault int, owner string) {
	n.feed.Publish(Event{Node: n.name, Hit: &agent.Hit{Fault: fault, Key: "k", Owner: owner, At: 1000}})
}

// play is a nemesis at work on three fake clients and a fake server.
type playing struct {
	stage  Stage
	nodes  []*fakeNode // client-1 to client-3, server-1
	notes  []history.Op
	cancel context.CancelFunc
	ended  chan error
}

func start(t *testing.T, f Fault) *playing {
	t.Helper()
	p := &playing{ended: make(chan error, 1)}
	feed := NewFeed()
	for _, name := range []string{"client-1", "client-2", "client-3", "server-1"} {
		p.nodes = append(p.nodes, &fakeNode{name: name, feed: feed, armed: make(chan agent.Arm, 10)})
	}
	p.stage = Stage{Clients: []Victim{p.nodes[0], p.nodes[1], p.nodes[2]}, Servers: []Victim{p.nodes[3]}, Feed: feed,
		Seed: 1, Note: func(op history.Op) { p.notes = append(p.notes, op) }, Limit: time.Second}
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	t.Cleanup(cancel)
	go func() { p.ended <- Play(ctx, p.stage, []Fault{f}) }()
	return p
}

func (p *playing) wait(t *testing.T) {
	t.Helper()
	select {
	case err := <-p.ended:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the nemesis did not end")
	}
}

func (p *playing) running() bool {
	select {
	case err := <-p.ended:
		p.ended <- err
		return false
	case <-time.After(30 * time.Millisecond):
		return true
	}
}

func apply(owner string, at int64) Event {
	return Event{Node: "resource", Op: &history.Op{Type: history.Note, F: history.Apply, Key: "k", Owner: owner, Time: at,
		Unfenced: &history.Copy{Accepted: true}}}
}

var pauseHolder = Fault{Kind: "pause", Target: "holder", On: "before-write", Until: UntilWriteAccepted, Min: time.Millisecond, Max: time.Second}

func TestPauseEndsWhenAnothersWriteWasAccepted(t *testing.T) {
	p := start(t, pauseHolder)
	for _, n := range p.nodes[:3] {
		<-n.armed
	}
	p.nodes[1].hit(1, "zombie")
	p.stage.Feed.Publish(apply("zombie", 2000)) // its own write ends nothing
	p.stage.Feed.Publish(apply("other", 500))   // nor does one from before
	if !p.running() {
		t.Fatal("ended too early")
	}
	p.stage.Feed.Publish(apply("other", 3000))
	p.wait(t)
	if p.nodes[1].count(agent.Heal) == 0 {
		t.Error("the victim was not resumed")
	}
	for _, i := range []int{0, 2} {
		if p.nodes[i].count(agent.Disarm) == 0 || p.nodes[i].count(agent.Cancel) == 0 {
			t.Errorf("%s is still armed, or was left stopped", p.nodes[i].name)
		}
	}
	if p.nodes[3].count(agent.ArmCheckpoint)+p.nodes[3].count(agent.Inject) > 0 {
		t.Error("a server was touched")
	}
}

// Where nobody else can write, as with a row lock, the agent ends the pause at Max.
func TestPauseThatEndsAtItsMax(t *testing.T) {
	p := start(t, pauseHolder)
	<-p.nodes[0].armed
	p.nodes[0].hit(1, "zombie")
	p.stage.Feed.Publish(Event{Node: "client-1", Over: &agent.Over{Fault: 1}})
	p.wait(t)
}

func TestCancelHeals(t *testing.T) {
	p := start(t, pauseHolder)
	<-p.nodes[0].armed
	p.nodes[0].hit(1, "zombie")
	if !p.running() {
		t.Fatal("ended too early")
	}
	p.cancel()
	p.wait(t)
	if p.nodes[0].count(agent.Heal) == 0 {
		t.Error("the victim was left stopped")
	}
}

func TestTriggerThatNeverComesIsMissed(t *testing.T) {
	f := pauseHolder
	p := start(t, f)
	p.wait(t) // Limit is one second
	if len(p.notes) != 1 || p.notes[0].Fault.Phase != history.Missed || !strings.Contains(p.notes[0].Error, "before-write") {
		t.Errorf("notes %+v", p.notes)
	}
}

func TestUnknownNodeIsMissed(t *testing.T) {
	p := start(t, Fault{Kind: "pause", Target: "client-9", On: "acquired", Max: time.Second})
	p.wait(t)
	if len(p.notes) != 1 || !strings.Contains(p.notes[0].Error, `"client-9"`) {
		t.Errorf("notes %+v", p.notes)
	}
}

func TestDeadTargetIsMissed(t *testing.T) {
	p := start(t, Fault{Kind: "pause", Target: "server-1", Max: time.Second, At: 50 * time.Millisecond})
	p.nodes[3].mu.Lock()
	p.nodes[3].dead = true
	p.nodes[3].mu.Unlock()
	p.wait(t)
	if len(p.notes) != 1 || !strings.Contains(p.notes[0].Error, "agent has ended") {
		t.Errorf("notes %+v", p.notes)
	}
}

func TestOtherHasRead(t *testing.T) {
	f := pauseHolder
	f.Until = UntilOtherHasRead
	p := start(t, f)
	first := []agent.Arm{<-p.nodes[0].armed, <-p.nodes[1].armed, <-p.nodes[2].armed}
	if slices.ContainsFunc(first, func(a agent.Arm) bool { return a.Kind != "pause" }) {
		t.Fatalf("armed %+v", first)
	}
	p.nodes[0].hit(1, "zombie")
	hold := <-p.nodes[2].armed
	if hold.Kind != agent.Hold || hold.Checkpoint != "before-write" {
		t.Fatalf("the others are to be held at their write: %+v", hold)
	}
	if p.nodes[0].count(agent.Heal) > 0 {
		t.Fatal("the victim woke before the other had read")
	}
	p.nodes[2].hit(hold.Fault, "other")
	for p.nodes[0].count(agent.Heal) == 0 {
		time.Sleep(time.Millisecond)
	}
	if p.nodes[2].resumed(hold.Fault) > 0 {
		t.Fatal("the other went on before the woken client had written")
	}
	p.stage.Feed.Publish(apply("zombie", 5000))
	p.wait(t)
	if p.nodes[2].resumed(hold.Fault) == 0 {
		t.Error("the other is still held")
	}
}

func TestServerIsStoppedWhileAClientIsHeld(t *testing.T) {
	p := start(t, Fault{Kind: "pause", Target: "a-server", On: "acquired", Min: time.Second, Max: time.Second})
	hold := <-p.nodes[1].armed
	p.nodes[1].hit(hold.Fault, "holder")
	arm := <-p.nodes[3].armed
	if arm.Kind != "pause" || p.nodes[3].count(agent.Inject) != 1 {
		t.Fatalf("the server was told %+v", arm)
	}
	for p.nodes[1].count(agent.Heal) == 0 {
		time.Sleep(time.Millisecond)
	}
	p.stage.Feed.Publish(Event{Node: "server-1", Over: &agent.Over{Fault: arm.Fault}})
	p.wait(t)
}
