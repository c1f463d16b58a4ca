package checker

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/history"
)

// weaker is a history of which less is known than of another, or to which a fault was added that can have no hand in it.
type weaker struct {
	how   string
	at    int // the operation that was changed
	setup history.Setup
	ops   []history.Op
}

// TestLessEvidence takes from each golden history one piece of what was recorded, and none may turn green into red: who judges by what is certain
// accuses nobody for what a recording does not say.
func TestLessEvidence(t *testing.T) {
	accused := map[string]string{ // how and property, and why it may
		"no sent honest-claims":          "tokens alone then tell which grant came first: they went back, which fencing-monotonic says of the whole",
		"no look release-by-owner":       "what had ended the grant before the release is not known any more",
		"unknown extend loss-noticed":    "the holder's claim ends with the last renewal that was answered",
		"unknown extend availability":    "its holder is not known to be served any more",
		"unknown extend recovery":        "the renewal had lengthened the lease beyond that of the run",
		"unknown extend lease-exclusion": "the renewal had shortened the lease, which one of unknown outcome is not held to have done",
		"unknown acquire availability":   "who has no fault and is not answered at all was not served",
	}
	accused["unknown extend mutual-exclusion"] = accused["unknown extend lease-exclusion"]
	eachWeaker(t, lessEvidence, func(how string, was, is Property) bool {
		return was.Verdict == Holds && is.Verdict == Violated && accused[how+" "+was.Name] == ""
	})
}

// TestFaultOfBystander adds to each golden history a client that does nothing, and is hit all the while: that excuses nobody and accuses nobody.
// availability judges what goes on while a fault lasts, and deadlock-freedom does not judge a run that ended before its last fault did.
func TestFaultOfBystander(t *testing.T) {
	eachWeaker(t, besideBystander, func(_ string, was, is Property) bool {
		cut := was.Name == "deadlock-freedom" && is.Verdict == Unknown && strings.HasPrefix(is.Reason, "Interrupted")
		return was.Name != "availability" && !cut && (was.Verdict == Violated) != (is.Verdict == Violated)
	})
}

// TestFaultOfFormer is the same of a client that has held each key once, long before, and has given it back.
func TestFaultOfFormer(t *testing.T) {
	eachWeaker(t, func(setup history.Setup, ops []history.Op) []weaker {
		return besideFormer(setup, leftRoom(ops))
	}, func(_ string, was, is Property) bool {
		cut := was.Name == "deadlock-freedom" && is.Verdict == Unknown && strings.HasPrefix(is.Reason, "Interrupted")
		return was.Name != "availability" && !cut && (was.Verdict == Violated) != (is.Verdict == Violated)
	})
}

// eachWeaker judges what some change makes of each golden history, and tells of each property whose verdict may not change so.
func eachWeaker(t *testing.T, change func(history.Setup, []history.Op) []weaker, wrong func(how string, was, is Property) bool) {
	files, err := filepath.Glob("testdata/*/*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	judged, least := make(chan int, len(files)), 3*len(files)
	for part := range 2 {
		all.Go(func() {
			for i := part; i < len(files); i += 2 {
				data, err := os.ReadFile(files[i])
				if err != nil {
					t.Error(err)
					return
				}
				setup, ops, err := history.Decode(bytes.NewReader(data))
				if err != nil {
					t.Error(err)
					return
				}
				judged <- judgeWeaker(t, files[i], Judge(setup, ops), change(setup, ops), wrong)
			}
		})
	}
	all.Wait()
	close(judged)
	n := 0
	for some := range judged {
		n += some
	}
	if n < least {
		t.Errorf("%d histories were judged, fewer than %d", n, least)
	}
}

func judgeWeaker(t *testing.T, file string, was Result, changed []weaker, wrong func(how string, was, is Property) bool) (judged int) {
	for _, w := range changed {
		if history.Validate(w.setup, w.ops) != nil { // such as a grant of an owner whose renewal is of unknown outcome
			continue
		}
		judged++
		is := Judge(w.setup, w.ops)
		for _, p := range was.Properties {
			if other := is.Property(p.Name); other != nil && wrong(w.how, p, *other) {
				t.Errorf("%s: %s was %s, and is %s with %s at %d: %s", file, p.Name, p.Verdict, other.Verdict, w.how, w.at, other.Reason)
			}
		}
	}
	return judged
}

// lessEvidence are the histories that lack one look, do not say when one request was sent or that one was refused for another's sake, or do
// not know how one release, renewal or failed acquire ended; and those without any look, or any time of sending.
func lessEvidence(setup history.Setup, ops []history.Op) (all []weaker) {
	add := func(how string, at int, ops []history.Op) { all = append(all, weaker{how, at, setup, ops}) }
	change := func(how string, i int, f func(op *history.Op)) {
		changed := slices.Clone(ops)
		f(&changed[i])
		add(how, i, changed)
	}
	unsent := slices.Clone(ops)
	for i := range ops {
		op := &ops[i]
		if op.F == history.Holder {
			add("no look", i, numbered(slices.Delete(slices.Clone(ops), i, i+1)))
			continue
		}
		unsent[i].Sent = 0
		if op.Sent != 0 {
			change("no sent", i, func(op *history.Op) { op.Sent = 0 })
		}
		if op.Busy {
			change("no busy", i, func(op *history.Op) { op.Busy = false })
		}
		if given := slices.Contains([]history.F{history.Release, history.Extend, history.Change}, op.F); given && op.Type == history.OK ||
			op.Type == history.Fail && (given || op.F == history.Acquire || op.F == history.Try) {
			add(fmt.Sprint("unknown ", op.F), i, withoutAnswer(ops, i))
		}
	}
	add("no sent", -1, unsent)
	add("no look", -1, numbered(slices.DeleteFunc(slices.Clone(ops), func(op history.Op) bool { return op.F == history.Holder })))
	return all
}

// withoutAnswer are the operations where the one that ends at i is of unknown outcome; another process of its client goes on.
func withoutAnswer(ops []history.Op, i int) []history.Op {
	ops = slices.Clone(ops)
	was := ops[i]
	ops[i] = history.Op{Index: i, Time: was.Time, Mono: was.Mono, Real: was.Real, Node: was.Node, Process: was.Process,
		Type: history.Info, F: was.F, Key: was.Key, Owner: was.Owner, Error: "no answer"}
	if was.Type == history.Fail && (was.F == history.Acquire || was.F == history.Try) {
		ops[i].Owner = ""
	}
	for j := i + 1; j < len(ops); j++ {
		if ops[j].Node == was.Node && ops[j].Process == was.Process && ops[j].Type != history.Note {
			ops[j].Process += 1000
		}
	}
	return ops
}

// besideBystander are the histories in which one client more is hit by faults of some kinds from the first operation until all is healed, or stands still all the while by none.
func besideBystander(setup history.Setup, ops []history.Op) (all []weaker) {
	if len(ops) == 0 {
		return nil
	}
	setup.Clients = append(slices.Clone(setup.Clients), idle)
	setup.Expect = history.Expect{}
	for _, f := range []history.FaultNote{{Kind: "pause"}, {Kind: "kill"}, {Kind: "partition"}, {Kind: "partition", Cut: setup.Servers}, {Kind: "latency"}} {
		f.ID, f.Target = 9999, idle
		note := func(at int64, phase history.Phase) history.Op {
			now := f
			now.Phase = phase
			return history.Op{Time: at, Mono: at, Node: idle, Type: history.Note, F: history.Fault, Fault: &now}
		}
		end := slices.IndexFunc(ops, func(op history.Op) bool { return op.F == history.Final }) // all is healed by then
		if end < 0 {
			end = len(ops)
		}
		first, last := ops[0].Time, ops[max(end, 1)-1].Time
		hit := slices.Concat([]history.Op{note(first, history.Begin), note(first, history.Observed)}, ops[:end], []history.Op{note(last, history.Heal)}, ops[end:])
		all = append(all, weaker{f.Kind, 0, setup, numbered(hit)})
	}
	first, last := ops[0].Time, ops[len(ops)-1].Time
	stall := history.Op{Time: last, Mono: last, Node: idle, Type: history.Note, F: history.Stall, Length: last - first}
	before := len(ops) - 1 // the last one of a history may be evidence itself, of how long it was
	return append(all, weaker{"stall", 0, setup, numbered(slices.Insert(slices.Clone(ops), before, stall))})
}

// idle is the client that a history did not have.
const idle = "client-99"

// besideFormer are the histories of besideBystander in which that client has held each key once, a minute before, and given it back.
func besideFormer(setup history.Setup, ops []history.Op) (all []weaker) {
	for _, w := range besideBystander(setup, ops) {
		all = append(all, weaker{w.how, w.at, w.setup, numbered(slices.Concat(former(w.setup, w.ops), w.ops))})
	}
	return all
}

// former are the operations of a client that has held each key of a history for a moment, a minute before that begins.
func former(setup history.Setup, ops []history.Op) (before []history.Op) {
	held := map[string]bool{}
	for i := range ops {
		grant := ops[i]
		if grant.Type != history.OK || grant.F != history.Acquire && grant.F != history.Try || held[grant.Key] {
			continue
		}
		held[grant.Key] = true
		at, n := ops[0].Time-int64(time.Minute)+int64(len(before))*int64(time.Millisecond), int64(len(held))
		step := func(later int64, kind history.Type, f history.F) history.Op {
			return history.Op{Time: at + later, Mono: at + later, Node: idle, Process: 9999, Type: kind, F: f, Key: grant.Key}
		}
		asked, granted := step(0, history.Invoke, grant.F), step(2, history.OK, grant.F)
		asked.Mode, asked.Permits = grant.Mode, grant.Permits
		granted.Mode, granted.Permits, granted.Depth, granted.Lease = grant.Mode, grant.Permits, min(grant.Depth, 1), grant.Lease
		granted.Owner = fmt.Sprintf("%s/%d", idle, n)
		if grant.Token != 0 {
			granted.Token = n
		}
		if grant.Sent != 0 {
			granted.Sent = at + 1
		}
		if grant.Deadline != 0 && grant.Lease != 0 {
			granted.Deadline = at + grant.Lease
		}
		given, gone := step(3, history.Invoke, history.Release), step(4, history.OK, history.Release)
		given.Owner, gone.Owner, given.Permits = granted.Owner, granted.Owner, grant.Permits
		before = append(before, asked, granted, given, gone)
	}
	return before
}

// leftRoom are operations with all tokens higher, so that there is room for lower ones.
func leftRoom(ops []history.Op) []history.Op {
	more := func(token *int64) {
		if *token != 0 {
			*token += 1000
		}
	}
	ops = slices.Clone(ops)
	for i := range ops {
		more(&ops[i].Token)
		for _, c := range []**history.Copy{&ops[i].Unfenced, &ops[i].Fenced} {
			if *c != nil {
				moved := **c
				more(&moved.Token)
				*c = &moved
			}
		}
	}
	return ops
}

// numbered gives operations their places.
func numbered(ops []history.Op) []history.Op {
	for i := range ops {
		ops[i].Index = i
	}
	return ops
}
