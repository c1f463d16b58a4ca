package nemesis

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/nemesis/agent"
	"github.com/dlmtest/dlmtest/nemesis/agent/links"
)

// lostAnswer waits for a message, on no checkpoint.
func lostAnswer(target string) Fault {
	return Fault{Kind: "hold-answer", Target: target, Until: UntilWriteAccepted, Min: time.Millisecond, Max: time.Second,
		Params: agent.Params{Link: &agent.LinkFault{When: links.When{Name: "EVAL"}}}}
}

func wroteOn(node, owner string, at int64) Event {
	e := apply(owner, at)
	e.Node, e.Op.F, e.Op.Type = node, history.Write, history.OK
	return e
}

// The first client on whose link the message comes is the victim. Its own writes end
// nothing, though the message names no grant.
func TestMessageOnTheFirstClient(t *testing.T) {
	p := start(t, lostAnswer("holder"))
	for _, n := range p.nodes[:3] {
		arm := <-n.armed
		if n.count(agent.Inject) != 1 || arm.Checkpoint != "" || arm.Limit == 0 || !slices.Equal(arm.Link.To, []string{"server-1"}) || !slices.Equal(arm.Cut, arm.Link.To) {
			t.Errorf("%s was told %+v of %+v", n.name, arm, arm.Link)
		}
	}
	p.nodes[1].hit(1, "")
	p.stage.Feed.Publish(wroteOn("client-2", "mine", 2000))
	p.stage.Feed.Publish(apply("mine", 2000))
	if !p.running() {
		t.Fatal("ended by the victim's own write")
	}
	p.stage.Feed.Publish(wroteOn("client-1", "other", 3000))
	p.wait(t)
	if p.nodes[0].count(agent.Cancel) == 0 || p.nodes[2].count(agent.Cancel) == 0 || p.nodes[1].count(agent.Cancel) > 0 || p.nodes[1].count(agent.Heal) == 0 {
		t.Error("the others are still armed, or the victim is not healed")
	}
}

// All clients, or one by name, wait for their own messages.
func TestMessageOnEveryClient(t *testing.T) {
	f := lostAnswer("clients")
	f.Until = ""
	p := start(t, f)
	for _, n := range p.nodes[:3] {
		<-n.armed
	}
	p.nodes[1].hit(1, "")
	for _, n := range p.nodes[:3] {
		p.stage.Feed.Publish(Event{Node: n.name, Over: &agent.Over{Fault: 1}})
		if n.count(agent.Cancel) > 0 {
			t.Errorf("%s was called off", n.name)
		}
	}
	p.wait(t)
}

func TestMessageOnAClientByName(t *testing.T) {
	p := start(t, lostAnswer("client-3"))
	<-p.nodes[2].armed
	if p.nodes[0].count(agent.Inject)+p.nodes[1].count(agent.Inject) > 0 {
		t.Error("others were armed")
	}
	p.nodes[2].hit(1, "")
	p.stage.Feed.Publish(Event{Node: "client-3", Over: &agent.Over{Fault: 1}})
	p.wait(t)
}

func TestMessageThatNeverComesIsMissed(t *testing.T) {
	p := start(t, lostAnswer("holder"))
	p.wait(t)
	if len(p.notes) != 1 || p.notes[0].Fault.Phase != history.Missed || !strings.Contains(p.notes[0].Error, "the message of the hold-answer") {
		t.Errorf("notes %+v", p.notes)
	}
}

// At a checkpoint the victim's own agent holds its link; the checkpoint has a grant, so the
// resource's own word counts.
func TestLinkAtACheckpoint(t *testing.T) {
	p := start(t, Fault{Kind: "hold-request", Target: "holder", On: "writing", To: "server-1", Until: UntilWriteAccepted, Max: time.Second})
	for _, n := range p.nodes[:3] {
		if arm := <-n.armed; arm.Checkpoint != "writing" || n.count(agent.ArmCheckpoint) != 1 {
			t.Errorf("%s was told %+v", n.name, arm)
		}
	}
	p.nodes[0].hit(1, "held")
	p.stage.Feed.Publish(apply("other", 3000))
	p.wait(t)
}

// Slow links still serve: the history does not call the client cut off.
func TestSlowLinksCutNobodyOff(t *testing.T) {
	p := start(t, Fault{Kind: "latency", Target: "clients", Max: time.Second, Params: agent.Params{Link: &agent.LinkFault{RTT: time.Millisecond}}})
	for _, n := range p.nodes[:3] {
		if arm := <-n.armed; len(arm.Cut) > 0 || arm.Link.RTT != time.Millisecond || !slices.Equal(arm.Link.To, []string{"server-1"}) {
			t.Errorf("%+v of %+v", arm, arm.Link)
		}
		p.stage.Feed.Publish(Event{Node: n.name, Over: &agent.Over{Fault: 1}})
	}
	p.wait(t)
}

func TestLinksOfAServerAreRefused(t *testing.T) {
	p := start(t, Fault{Kind: "latency", Target: "server-1", Max: time.Second})
	p.wait(t)
	if len(p.notes) != 1 || !strings.Contains(p.notes[0].Error, `"server-1" is no client`) {
		t.Errorf("notes %+v", p.notes)
	}
}

func TestLinksAreNeeded(t *testing.T) {
	if Links([]Fault{{Kind: "pause"}, {Kind: "partition"}}) || !Links([]Fault{{Kind: "pause"}, {Kind: "reset"}}) {
		t.Error("links only for faults of links")
	}
	for _, kind := range OnLinks {
		if Kinds[kind] == "" || !history.FaultOf(kind).Local {
			t.Errorf("%s is not in every table", kind)
		}
	}
}
