package nemesis

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/nemesis/agent"
)

// theatre is a stage of fake nodes whose faults end by themselves, and what was done on it.
type theatre struct {
	Stage
	mu     sync.Mutex
	struck map[int][]string // by fault: its victims
	order  []int            // of the injections
	notes  []history.Op
}

// actor is a node of a theatre.
type actor struct {
	name string
	th   *theatre
	no   error // what it answers to an injection
}

func (a *actor) Name() string    { return a.name }
func (a *actor) Address() string { return "10.0.0.1" }
func (a *actor) Command(_ context.Context, c agent.Command) error {
	if c.Do != agent.Inject {
		return nil
	}
	if a.no != nil {
		return a.no
	}
	a.th.mu.Lock()
	a.th.struck[c.Arm.Fault] = append(a.th.struck[c.Arm.Fault], a.name)
	a.th.order = append(a.th.order, c.Arm.Fault)
	a.th.mu.Unlock()
	time.AfterFunc(c.Arm.Max, func() { a.th.Feed.Publish(Event{Node: a.name, Over: &agent.Over{Fault: c.Arm.Fault}}) })
	return nil
}

func newTheatre(clients, servers int, seed uint64) *theatre {
	th := &theatre{struck: map[int][]string{}}
	th.Stage = Stage{Seed: seed, Feed: NewFeed(), Limit: 300 * time.Millisecond,
		Leader: func(context.Context) (Victim, error) { return nil, errors.New("nobody leads") },
		Note: func(op history.Op) {
			th.mu.Lock()
			defer th.mu.Unlock()
			th.notes = append(th.notes, op)
		}}
	for i := range clients {
		th.Clients = append(th.Clients, &actor{name: fmt.Sprintf("client-%d", i+1), th: th})
	}
	for i := range servers {
		th.Servers = append(th.Servers, &actor{name: fmt.Sprintf("server-%d", i+1), th: th})
	}
	th.Resource = &actor{name: "resource", th: th}
	return th
}

func (th *theatre) play(t *testing.T, faults ...Fault) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := Play(ctx, th.Stage, faults); err != nil || ctx.Err() != nil {
		t.Fatal(err, ctx.Err())
	}
	for _, nodes := range th.struck {
		slices.Sort(nodes)
	}
}

// said wants one note of that phase with the text in it.
func (th *theatre) said(t *testing.T, phase history.Phase, text string) {
	t.Helper()
	if len(th.notes) != 1 || th.notes[0].Fault.Phase != phase || !strings.Contains(th.notes[0].Error, text) {
		t.Errorf("notes %+v, want one that is %s and says %q", th.notes, phase, text)
	}
}

const blink = 5 * time.Millisecond

// With the streams that they had, faults hit whom they hit, also where others are left out.
func TestStreamsOutliveOtherFaults(t *testing.T) {
	var faults []Fault
	for range 10 {
		faults = append(faults, Fault{Kind: "pause", Target: "a-server", Count: 2, Max: blink})
	}
	all := newTheatre(3, 7, 42)
	all.play(t, faults...)
	few, want := newTheatre(3, 7, 42), map[int][]string{}
	var left []Fault
	for i := 1; i < len(faults); i += 2 {
		f := faults[i]
		f.Stream = 2*i + 1
		left = append(left, f)
		want[2*len(left)-1], want[2*len(left)] = all.struck[2*i+1], all.struck[2*i+2]
	}
	if few.play(t, left...); !maps.EqualFunc(few.struck, want, slices.Equal) {
		t.Errorf("hit\n%v\nwant\n%v", few.struck, want)
	}
}

// Who is hit depends on the seed and the fault's number, and not on which of many
// faults at work at once comes first.
func TestChoicesAreTheSeeds(t *testing.T) {
	var faults []Fault
	for range 20 {
		faults = append(faults, Fault{Kind: "pause", Target: "a-server", Max: blink}, Fault{Kind: "kill", Target: "minority", Max: blink})
	}
	var first map[int][]string
	for range 5 {
		th := newTheatre(3, 7, 42)
		th.play(t, faults...)
		if first == nil {
			first = th.struck
		}
		if !maps.EqualFunc(first, th.struck, slices.Equal) {
			t.Fatalf("the same seed hit\n%v\nand\n%v", first, th.struck)
		}
	}
	other := newTheatre(3, 7, 43)
	other.play(t, faults...)
	if maps.EqualFunc(first, other.struck, slices.Equal) {
		t.Error("another seed makes the same 40 choices")
	}
}

func TestGroups(t *testing.T) {
	for target, want := range map[string]int{"servers": 5, "clients": 3, "minority": 2, "majority": 3, "all": 9, "a-server": 1, "a-client": 1, "server-4": 1, "resource": 1} {
		th := newTheatre(3, 5, 1)
		th.play(t, Fault{Kind: "pause", Target: target, Max: blink})
		if len(th.struck[1]) != want || len(th.notes) > 0 {
			t.Errorf("%s: %v, %+v", target, th.struck[1], th.notes)
		}
	}
	th := newTheatre(3, 5, 1)
	th.play(t, Fault{Kind: "kill", Target: "all", Max: blink})
	if len(th.struck[1]) != 8 || slices.Contains(th.struck[1], "resource") {
		t.Errorf("a kill of all hit %v: the resource is the evidence", th.struck[1])
	}
}

func TestLeaderAndFollowers(t *testing.T) {
	for target, want := range map[string]bool{"leader": true, "a-follower": false} {
		th := newTheatre(1, 3, 1)
		th.Leader = func(context.Context) (Victim, error) { return th.Servers[1], nil }
		th.play(t, Fault{Kind: "pause", Target: target, Max: blink})
		if got := th.struck[1]; len(got) != 1 || (got[0] == "server-2") != want {
			t.Errorf("%s: %v", target, got)
		}
	}
}

func TestAfter(t *testing.T) {
	th := newTheatre(1, 3, 1)
	th.play(t, Fault{Kind: "pause", Target: "server-1", After: "second", When: WhenHealed, Max: blink},
		Fault{Kind: "pause", Target: "server-2", Name: "first", Max: 20 * blink},
		Fault{Kind: "pause", Target: "server-3", Name: "second", After: "first", When: WhenBegun, Max: blink})
	if !slices.Equal(th.order, []int{2, 3, 1}) || len(th.notes) > 0 {
		t.Errorf("in the order %v, notes %+v", th.order, th.notes)
	}
}

// A fault that comes three times is over after the third.
func TestAfterAll(t *testing.T) {
	th := newTheatre(1, 3, 1)
	th.play(t, Fault{Kind: "pause", Target: "server-1", Name: "thrice", Count: 3, Max: blink},
		Fault{Kind: "pause", Target: "server-2", After: "thrice", When: WhenHealed, Max: blink})
	if !slices.Equal(th.order, []int{1, 2, 3, 4}) || len(th.notes) > 0 {
		t.Errorf("in the order %v, notes %+v", th.order, th.notes)
	}
}

// What comes after a fault that never was is missed, and nobody waits for it for ever.
func TestAfterWhatNeverWas(t *testing.T) {
	th := newTheatre(1, 3, 1)
	th.play(t, Fault{Kind: "pause", Target: "leader", Name: "lead", Max: blink},
		Fault{Kind: "pause", Target: "server-1", Name: "next", After: "lead", When: WhenBegun, Max: blink},
		Fault{Kind: "pause", Target: "server-2", After: "next", When: WhenHealed, Max: blink})
	if len(th.struck) > 0 || len(th.notes) != 3 {
		t.Errorf("struck %v, notes %+v", th.struck, th.notes)
	}
	for _, n := range th.notes {
		if n.Fault.Phase != history.Missed {
			t.Errorf("%+v", n)
		}
	}
}

func TestEvery(t *testing.T) {
	th := newTheatre(1, 1, 1)
	begun := time.Now()
	th.play(t, Fault{Kind: "pause", Target: "server-1", At: 30 * time.Millisecond, Interval: 30 * time.Millisecond, Count: 4, Max: blink})
	if !slices.Equal(th.order, []int{1, 2, 3, 4}) || time.Since(begun) < 4*30*time.Millisecond {
		t.Errorf("in the order %v, within %v", th.order, time.Since(begun))
	}
}

// The same that is missed when it is written is skipped when it is drawn.
func TestSkipped(t *testing.T) {
	dead := newTheatre(2, 1, 1)
	dead.Servers[0].(*actor).no = errors.New("its agent has ended")
	busy := newTheatre(2, 1, 1)
	busy.Servers[0].(*actor).no = fmt.Errorf("server-1: %w: it suffers another", agent.ErrRefused)
	for _, c := range []struct {
		th     *theatre
		f      Fault
		random history.Phase
		text   string
	}{
		{newTheatre(2, 3, 1), Fault{Kind: "pause", Target: "leader"}, history.Skipped, "nobody leads"},
		{newTheatre(2, 1, 1), Fault{Kind: "pause", Target: "minority"}, history.Skipped, "too few"},
		{newTheatre(2, 1, 1), Fault{Kind: "partition", Target: "halves"}, history.Skipped, "cannot be parted"},
		{newTheatre(2, 1, 1), Fault{Kind: "pause", Target: "holder", On: "acquired"}, history.Skipped, "no client reached the checkpoint"},
		{newTheatre(2, 1, 1), Fault{Kind: "pause", Target: "a-waiter"}, history.Skipped, "no client waited"},
		{busy, Fault{Kind: "pause", Target: "a-server"}, history.Skipped, "suffers another"},
		{dead, Fault{Kind: "pause", Target: "a-server"}, history.Missed, "agent has ended"},
	} {
		c.f.Max = blink
		c.th.play(t, c.f)
		c.th.said(t, history.Missed, c.text)
		c.th.notes, c.f.Random = nil, true
		c.th.play(t, c.f)
		c.th.said(t, c.random, c.text)
	}
}

func TestRefusedBeforeTheRun(t *testing.T) {
	th := newTheatre(1, 1, 1)
	th.play(t, Fault{Kind: "clock", Target: "a-server", Refused: "a JVM does not survive it", Random: true, Max: blink})
	th.said(t, history.Skipped, "JVM")
}

// A drawn fault gives way to one whose proof it would spoil; a cut spoils none.
func TestRandomFaultsGiveWay(t *testing.T) {
	th := newTheatre(2, 1, 1)
	th.play(t, Fault{Kind: "pause", Target: "server-1", Max: 20 * blink},
		Fault{Kind: "kill", Target: "server-1", At: 4 * blink, Random: true, Max: blink},
		Fault{Kind: "partition", Target: "server-1", At: 4 * blink, Random: true, Max: blink})
	th.said(t, history.Skipped, "suffers a pause from fault 1")
	if len(th.struck[2]) > 0 || len(th.struck[3]) == 0 {
		t.Errorf("struck %v", th.struck)
	}
	th = newTheatre(1, 1, 1)
	th.play(t, Fault{Kind: "kill", Target: "client-1", Max: blink}, Fault{Kind: "pause", Target: "a-client", At: 10 * blink, Random: true, Max: blink})
	th.said(t, history.Skipped, "was killed by fault 1")
}

func TestWaiter(t *testing.T) {
	th := newTheatre(4, 1, 1)
	ask := func(node string, kind history.Type, f history.F) {
		th.Feed.Publish(Event{Node: node, Op: &history.Op{Node: node, Type: kind, F: f, Key: "k"}})
	}
	ask("client-1", history.Invoke, history.Acquire)
	ask("client-1", history.OK, history.Acquire)
	ask("client-1", history.Invoke, history.Read)
	ask("client-2", history.Invoke, history.Acquire)
	ask("client-2", history.Fail, history.Acquire)
	ask("client-3", history.Invoke, history.Acquire)
	ask("client-4", history.Invoke, history.Acquire)
	th.Feed.Publish(Event{Node: "client-4", Op: &history.Op{Type: history.Note, F: history.Fault,
		Fault: &history.FaultNote{Kind: "kill", Target: "client-4", Phase: history.Begin}}})
	th.play(t, Fault{Kind: "pause", Target: "a-waiter", Max: blink})
	if !slices.Equal(th.struck[1], []string{"client-3"}) {
		t.Errorf("%v %+v: client-3 alone waits", th.struck, th.notes)
	}
}

// The servers are asked, while the holder stands at its checkpoint.
func TestQuorumMember(t *testing.T) {
	const owner = "client-1/o7"
	th := newTheatre(1, 5, 1)
	th.Holds = func(_ context.Context, v Victim, key string) (string, error) {
		switch {
		case key != "k" || v.Name() == "server-1":
			return "", errors.New("does not answer")
		case v.Name() == "server-4":
			return owner, nil
		}
		return "client-2/o9", nil
	}
	for _, c := range []struct {
		owner string
		want  []string
	}{{owner, []string{"server-4"}}, {"client-1/o8", nil}, {"", nil}} {
		stage := th.Stage
		stage.at, stage.Random = &agent.Hit{Key: "k", Owner: c.owner}, chooser(1, 1)
		got, err := stage.targets(t.Context(), quorumMember, nil)
		if !slices.Equal(names(got), c.want) || (err == nil) != (c.want != nil) {
			t.Errorf("%q: %v, %v", c.owner, names(got), err)
		}
	}
}

// A killed client that comes back is put to work again, and other faults may hit it then.
func TestClientsComeBack(t *testing.T) {
	th := newTheatre(2, 1, 1)
	var back []string
	th.Back = func(_ context.Context, v Victim) error {
		th.mu.Lock()
		defer th.mu.Unlock()
		back = append(back, v.Name())
		return nil
	}
	th.play(t, Fault{Kind: "kill", Target: "all", Max: blink, Params: agent.Params{Back: true}},
		Fault{Kind: "pause", Target: "client-1", At: 10 * blink, Random: true, Max: blink})
	slices.Sort(back)
	if !slices.Equal(back, []string{"client-1", "client-2"}) || !slices.Equal(th.struck[2], []string{"client-1"}) {
		t.Errorf("back are %v; struck %v", back, th.struck)
	}
}
