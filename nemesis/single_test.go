package nemesis

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/nemesis/agent"
)

// TestMain lets the test binary play the worker of a node.
func TestMain(m *testing.M) {
	if os.Getenv("NEMESIS_TEST_WORKER") != "" {
		passCheckpoints()
		return
	}
	os.Exit(m.Run())
}

// passCheckpoints is a worker that stands at a checkpoint as soon as it is armed, and comes
// there again as soon as it may pass.
func passCheckpoints() {
	orders := json.NewDecoder(os.Stdin)
	armed, standing, id := false, false, 0
	for {
		if armed && !standing {
			id, standing = id+1, true
			fmt.Printf(`{"checkpoint":{"id":%d,"checkpoint":"acquired","key":"k","owner":"o%d"}}`+"\n", id, id)
		}
		var o agent.Order
		if orders.Decode(&o) != nil {
			return
		}
		if o.Armed != nil {
			armed = len(*o.Armed) > 0
		}
		if o.Go == id {
			standing = false
		}
	}
}

// machine is a real agent with its worker, and the way to it, which takes its time.
type machine struct {
	name string
	in   io.Writer
	feed *Feed

	mu      sync.Mutex
	last    int
	replies map[int]chan agent.Message
	begun   map[int]int // faults, by number
	delays  *rand.Rand
}

func newMachine(t *testing.T, feed *Feed, n int) *machine {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	m := &machine{name: fmt.Sprintf("client-%d", n), in: inW, feed: feed, replies: map[int]chan agent.Message{}, begun: map[int]int{}, delays: chooser(7, n)}
	ended := make(chan struct{})
	go func() { _ = agent.Main(m.name, inR, outW); _ = outW.Close() }()
	go func() { m.listen(outR); close(ended) }()
	t.Cleanup(func() { _ = inW.Close(); <-ended })
	child := &agent.Child{Argv: []string{os.Args[0]}, Env: []string{"NEMESIS_TEST_WORKER=1"}, Speaks: true}
	if err := m.Command(t.Context(), agent.Command{Do: agent.Start, Child: child}); err != nil {
		t.Fatal(err)
	}
	return m
}

func (m *machine) listen(out io.Reader) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var said agent.Message
		var op history.Op
		if json.Unmarshal(lines.Bytes(), &said) != nil {
			continue
		}
		m.mu.Lock()
		if reply := m.replies[said.Re]; reply != nil {
			reply <- said
		}
		if json.Unmarshal(said.Op, &op) == nil && op.Fault != nil && op.Fault.Phase == history.Begin {
			m.begun[op.Fault.ID]++
		}
		m.mu.Unlock()
		if said.Asks != nil || said.Hit != nil || said.Over != nil {
			m.feed.Publish(Event{Node: m.name, Asks: said.Asks, Hit: said.Hit, Over: said.Over})
		}
	}
}

func (m *machine) Name() string    { return m.name }
func (m *machine) Address() string { return "10.0.0.1" }

// Command comes up to two milliseconds late, as on a machine that has other things to do.
func (m *machine) Command(ctx context.Context, c agent.Command) error {
	m.mu.Lock()
	m.last++
	c.ID = m.last
	reply := make(chan agent.Message, 1)
	m.replies[c.ID] = reply
	late := time.Duration(m.delays.Int64N(int64(2 * time.Millisecond)))
	m.mu.Unlock()
	time.Sleep(late)
	line, err := json.Marshal(c)
	if err != nil {
		return err
	}
	m.mu.Lock()
	_, err = m.in.Write(append(line, '\n'))
	m.mu.Unlock()
	if err != nil {
		return err
	}
	select {
	case said := <-reply:
		if said.Error != "" {
			return errors.New(said.Error)
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Many clients come to the checkpoint at once, each with a real agent: every fault has one
// victim, however late it is called off at the others.
func TestOneFaultHasOneVictim(t *testing.T) {
	const clients, rounds = 8, 200
	stage := Stage{Feed: NewFeed(), Seed: 1, Limit: 20 * time.Second, Note: func(op history.Op) { t.Errorf("%+v", op) }}
	var all []*machine
	for n := range clients {
		all = append(all, newMachine(t, stage.Feed, n+1))
		stage.Clients = append(stage.Clients, all[n])
	}
	f := Fault{Kind: "stall-worker", Target: "holder", On: "acquired", Count: rounds, Max: time.Millisecond}
	if err := Play(t.Context(), stage, []Fault{f}); err != nil {
		t.Fatal(err)
	}
	victims := map[string]int{}
	for id := 1; id <= rounds; id++ {
		hits := 0
		for _, m := range all {
			m.mu.Lock()
			hits += m.begun[id]
			victims[m.name] += m.begun[id]
			m.mu.Unlock()
		}
		if hits != 1 {
			t.Errorf("fault %d has %d victims", id, hits)
		}
	}
	if len(victims) < 2 {
		t.Errorf("only %v: nobody else came to the checkpoint", victims)
	}
}

func (n *fakeNode) asks(fault int) {
	n.feed.Publish(Event{Node: n.name, Asks: &agent.Hit{Fault: fault, Key: "k"}})
}

// Of those that ask the first is struck; if it has died at its checkpoint, the next.
func TestFirstThatAsksIsStruck(t *testing.T) {
	for _, dead := range []bool{false, true} {
		p := start(t, lostAnswer("holder"))
		for _, n := range p.nodes[:3] {
			if arm := <-n.armed; !arm.Asks {
				t.Errorf("%s is armed without having to ask: %+v", n.name, arm)
			}
		}
		victim := p.nodes[2]
		if dead {
			p.nodes[2].mu.Lock()
			p.nodes[2].dead = true
			p.nodes[2].mu.Unlock()
			victim = p.nodes[0]
		}
		for _, i := range []int{2, 0, 1} {
			p.nodes[i].asks(1)
		}
		for victim.count(agent.Strike) == 0 {
			time.Sleep(time.Millisecond)
		}
		victim.hit(1, "")
		victim.feed.Publish(Event{Node: victim.name, Over: &agent.Over{Fault: 1}})
		p.wait(t)
		for _, n := range p.nodes[:3] {
			if n == victim {
				if n.count(agent.Strike) != 1 || n.count(agent.Disarm) > 0 {
					t.Errorf("the victim %s was told %+v", n.name, n.told)
				}
			} else if n.count(agent.Disarm) == 0 || n.count(agent.Cancel) == 0 || n.count(agent.Strike) > 0 && !dead {
				t.Errorf("%s was told %+v", n.name, n.told)
			}
		}
	}
}

// One that is armed alone is hit without a round trip.
func TestAloneNobodyAsks(t *testing.T) {
	p := start(t, lostAnswer("client-3"))
	if arm := <-p.nodes[2].armed; arm.Asks {
		t.Errorf("%+v", arm)
	}
	p.nodes[2].hit(1, "")
	p.stage.Feed.Publish(Event{Node: "client-3", Over: &agent.Over{Fault: 1}})
	p.wait(t)
}
