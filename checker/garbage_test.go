package checker

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
)

// garbage draws a history of keys a and b that Validate accepts and that means
// nothing. The clients of one key have nothing to do with those of the other.
func garbage(t *rapid.T) (history.Setup, []history.Op) {
	setup := history.Setup{
		Promise: history.Promise{Leased: rapid.Bool().Draw(t, "leased"), Token: rapid.Bool().Draw(t, "token"),
			Session: rapid.Bool().Draw(t, "told"), Order: rapid.Bool().Draw(t, "order")},
		Lease: 1000, Keys: []string{"a", "b"}, Strict: rapid.Bool().Draw(t, "strict"),
		Fencing: rapid.SampledFrom([]string{"at-least", "strict"}).Draw(t, "fencing"),
		FenceOn: rapid.SampledFrom([]string{"write", "read"}).Draw(t, "fence on"),
		Servers: rapid.SampledFrom([][]string{nil, {"a1"}, {"a1", "b2", "s"}}).Draw(t, "servers"),
	}
	g := drawer{t: t, pending: map[int]history.Op{}, faulty: map[string]bool{}, tokens: map[string]int64{}, writers: map[string]string{}}
	for range rapid.IntRange(0, 80).Draw(t, "operations") {
		g.now += rapid.Int64Range(0, 300).Draw(t, "pause")
		op := g.next()
		op.Index = len(g.ops)
		g.ops = append(g.ops, op)
	}
	if err := history.Validate(setup, g.ops); err != nil {
		t.Fatal(err)
	}
	return setup, g.ops
}

type drawer struct {
	t       *rapid.T
	now     int64
	ops     []history.Op
	pending map[int]history.Op
	retired int
	faulty  map[string]bool
	tokens  map[string]int64  // of each grant
	writers map[string]string // of each value, its owner
	serial  int
}

func (g *drawer) int(name string, n int) int { return rapid.IntRange(0, n-1).Draw(g.t, name) }

func (g *drawer) next() history.Op {
	key := []string{"a", "b"}[g.int("key", 2)]
	client := 1 + g.int("client", 3)
	process := g.retired*10 + client
	if key == "b" {
		process += 5
	}
	node := fmt.Sprintf("%s%d", key, client)
	op := history.Op{Time: g.now, Node: node, Key: key, Process: process, Owner: fmt.Sprintf("%s-%d", key, g.int("owner", max(1, g.serial)))}
	if g.int("mono", 10) > 0 {
		op.Mono = g.now + 77 + int64(g.int("noise", 3))*1e6*int64(g.int("noisy", 2))
	}
	if g.int("note", 4) == 0 {
		return g.note(op)
	}
	if invoke, ok := g.pending[process]; ok {
		return g.completion(op, invoke)
	}
	op.Type = history.Invoke
	op.F = []history.F{history.Acquire, history.Try, history.Extend, history.Release, history.Read, history.Write}[g.int("f", 6)]
	if op.F == history.Acquire || op.F == history.Try {
		op.Owner = ""
	}
	if op.F == history.Write {
		g.serial++
		op.Value = fmt.Sprintf("%s%d", key, g.serial)
		op.Unfenced, op.Fenced = g.copy(key), g.copy(key)
		op.Token = g.tokens[op.Owner]
		g.writers[op.Value] = op.Owner
	}
	g.pending[process] = op
	return op
}

func (g *drawer) completion(op, invoke history.Op) history.Op {
	delete(g.pending, invoke.Process)
	op.F, op.Owner = invoke.F, invoke.Owner
	op.Type = []history.Type{history.OK, history.OK, history.OK, history.Fail, history.Info}[g.int("outcome", 5)]
	if op.Type == history.Info {
		g.retired++
	}
	if op.F == history.Acquire || op.F == history.Try {
		g.serial++
		op.Owner = fmt.Sprintf("%s-%d", op.Key, g.serial)
		if op.Type == history.Info {
			return op
		}
	}
	op.Token = int64(g.int("token", 6))
	if op.Type == history.OK && (op.F == history.Acquire || op.F == history.Try) {
		g.tokens[op.Owner] = op.Token
	}
	op.Sent = rapid.Int64Range(invoke.Time, op.Time).Draw(g.t, "sent")
	if g.int("deadline", 3) > 0 {
		op.Deadline = op.Time + rapid.Int64Range(-500, 2000).Draw(g.t, "deadline")
	}
	if op.F == history.Write {
		op.Unfenced, op.Fenced = g.copy(op.Key), g.copy(op.Key)
	}
	return op
}

func (g *drawer) copy(key string) *history.Copy {
	if g.int("copy", 6) == 0 {
		return nil
	}
	value := func(name string) string {
		if n := g.int(name, g.serial+1); n > 0 {
			return fmt.Sprintf("%s%d", key, n)
		}
		return ""
	}
	return &history.Copy{Base: value("base"), Previous: value("previous"), Accepted: g.int("accepted", 3) > 0, Token: int64(g.int("registered", 6))}
}

func (g *drawer) note(op history.Op) history.Op {
	op.Type = history.Note
	op.F = []history.F{
		history.Apply, history.Apply, history.ReadSeen, history.Suspended, history.Resumed, history.Lost, history.Abstain,
		history.Holder, history.Fault, history.Final, history.Held,
	}[g.int("kind", 11)]
	switch op.F {
	case history.Apply:
		op.Value = fmt.Sprintf("%s%d", op.Key, g.int("value", g.serial+1))
		op.Unfenced, op.Fenced = g.copy(op.Key), g.copy(op.Key)
		op.Owner = cmp.Or(g.writers[op.Value], op.Owner)
		op.Token = g.tokens[op.Owner]
	case history.Fault:
		phase := []history.Phase{history.Begin, history.Observed, history.Missed}[g.int("phase", 3)]
		if g.faulty[op.Node] && phase == history.Begin {
			phase = history.Heal
		}
		if !g.faulty[op.Node] && phase == history.Observed {
			phase = history.Missed
		}
		if phase == history.Begin || phase == history.Heal {
			g.faulty[op.Node] = phase == history.Begin
		}
		kind := []string{"pause", "kill", "clock", "partition"}[g.int("fault", 4)]
		op.Fault = &history.FaultNote{ID: 1, Kind: kind, Target: op.Node, Phase: phase}
		if kind == "partition" && g.int("known", 2) == 0 {
			op.Fault.Cut = []string{"b2", "s"}
		}
	case history.Final:
		for _, open := range g.faulty {
			if open {
				op.F = history.Held
			}
		}
	case history.Lost, history.Suspended, history.Resumed:
		if g.int("session", 2) == 0 {
			op.Owner = ""
		}
	}
	return op
}

// TestGarbage judges histories without meaning: no checker fails, evidence is
// in order and inside the history, and the same history gets the same result.
func TestGarbage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		setup, ops := garbage(t)
		result := Judge(setup, ops)
		if text := fmt.Sprintf("%+v", result); strings.Contains(text, "bug of dlmtest") {
			t.Fatal(text)
		}
		for _, p := range result.Properties {
			if p.Reason == "" {
				t.Fatalf("%s gives no reason", p.Name)
			}
			for _, v := range p.Violations {
				if !slices.IsSorted(v.Operations) || len(v.Operations) == 0 || v.Operations[0] < 0 || v.Operations[len(v.Operations)-1] >= len(ops) {
					t.Fatalf("%s: evidence %v of %d operations", p.Name, v.Operations, len(ops))
				}
			}
		}
		if again := Judge(setup, ops); !reflect.DeepEqual(result, again) {
			t.Fatal("the same history got another result")
		}
	})
}

// TestKeysAreIndependent compares the violations of each key with those found
// when all that concerns the other key is left out.
func TestKeysAreIndependent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		setup, ops := garbage(t)
		if len(ops) == 0 {
			return
		}
		ops = append(ops, history.Op{Index: len(ops), Time: ops[len(ops)-1].Time + 1, Type: history.Note, F: history.ReadSeen, Key: "end"}) // the log goes on, whatever is left out
		whole := Judge(setup, ops)
		for _, key := range setup.Keys {
			var part []history.Op
			for _, op := range ops {
				if op.Key == key || op.Key == "end" || op.F == history.Final || op.F == history.Fault {
					part = append(part, op)
				}
			}
			history.Sort(part)
			alone := Judge(setup, part)
			for i, p := range whole.Properties {
				if p.Name == "deadlock-freedom" || p.Name == "availability" {
					continue // they end with the history
				}
				// The resource left no log of this key, or what it left of the other one shows that records are missing.
				logged, incomplete := strings.HasPrefix(p.Name, "no-lost-update"), alone.Incomplete || whole.Incomplete
				open := alone.Properties[i].Verdict == Unknown || p.Verdict == Unknown
				if logged && (open || incomplete) || incomplete && open {
					continue
				}
				if got, want := instants(alone.Properties[i], key), instants(p, key); !slices.Equal(got, want) {
					t.Fatalf("%s of %s: alone %v, with the other key %v", p.Name, key, got, want)
				}
			}
		}
	})
}

func instants(p Property, key string) []int64 {
	var at []int64
	for _, v := range p.Violations {
		if v.Key == key {
			at = append(at, v.At)
		}
	}
	return at
}

// TestShiftedTime moves a whole run in time and changes nothing but the stamps.
func TestShiftedTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		setup, ops := garbage(t)
		by := rapid.Int64Range(1, 1e15).Draw(t, "by")
		moved := slices.Clone(ops)
		for i := range moved {
			moved[i].Time += by
			if moved[i].Sent != 0 {
				moved[i].Sent += by
			}
		}
		want, got := Judge(setup, ops), Judge(setup, moved)
		for i, p := range want.Properties {
			if q := got.Properties[i]; p.Verdict != q.Verdict || p.Reason != q.Reason {
				t.Fatalf("%s: %s (%s), and later %s (%s)", p.Name, p.Verdict, p.Reason, q.Verdict, q.Reason)
			}
		}
	})
}

// TestPanicIsUnknown: a checker that panics says unknown, with the text.
func TestPanicIsUnknown(t *testing.T) {
	bad := Checker{Name: "bad", check: func(*run) outcome { panic("no such thing") }}
	p := judgeOne(bad, history.Setup{}, &run{}, "")
	if p.Verdict != Unknown || !strings.Contains(p.Reason, "no such thing") {
		t.Errorf("got %+v", p)
	}
}
