package hunt

import (
	"cmp"
	"maps"
	"slices"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/reports/story"
)

// Cause is what tells two findings of one property apart.
type Cause struct {
	Property, Name string // Name says all of it: files and pages have it
	Traits
}

// Traits are what the story of a first violation shows. Findings of an older dlmtest have none.
type Traits struct {
	Turns  []story.Kind `json:"turns,omitempty"` // the steps that make it another story
	Struck []Struck     `json:"struck,omitempty"`
}

// Struck is a fault and whom it struck.
type Struck struct {
	Fault string `json:"fault"`
	Whom  Whom   `json:"whom,omitempty"`
}

// Whom is a server, or the client that acts too late at the end of the story, as it held the key or as it waited for
// it; "": another client. Only of a holder every lease allows it.
type Whom string

// Whom a fault may have struck.
const (
	Server Whom = "server"
	Holder Whom = "holder"
	Waiter Whom = "waiter"
)

// turns are the steps that make a story another one.
var turns = []story.Kind{story.StepZombie, story.StepEnd, story.StepTold, story.StepLoss, story.StepHold}

// chance are those of them that say nothing: whether somebody was told in between, and whether an update was lost.
var chance = []story.Kind{story.StepTold, story.StepLoss}

// causeOf reads it from the firmest violation of a property. Of one that any late holder may break (stale) it is the firmest that is not
// allowed; allowed says that there is none such.
func causeOf(setup history.Setup, ops []history.Op, p checker.Property, stale bool) (c Cause, v *checker.Violation, allowed bool) {
	all := firmly(p)
	if len(all) == 0 {
		return Cause{Property: p.Name, Name: p.Name}, nil, false
	}
	tell := func(n int) []story.Step { return story.Of(setup, ops, all[n]) }
	at := 0
	if stale {
		at, allowed = worst(len(all), func(n int) bool {
			steps := tell(n)
			switch p := setup.Promise; {
			case !p.Leased: // what ends a session, such as a broken connection, ends its lock
				return lossTold(ops, all[n])
			case p.Renews:
				return after(steps) && unheeded(ops, steps)
			}
			return after(steps)
		})
	}
	return causeIn(setup, ops, p.Name, tell(at)), &all[at], allowed
}

// mostTold are the violations of one run whose stories are told to see whether all are allowed; beyond them one may not be.
const mostTold = 30

// worst is the first of n violations whose story is not allowed, else the first of all, which is allowed as all others are.
func worst(n int, allows func(int) bool) (at int, allowed bool) {
	for i := range min(n, mostTold) {
		if !allows(i) {
			return i, false
		}
	}
	return 0, n <= mostTold
}

// causeIn reads a cause from a story.
func causeIn(setup history.Setup, ops []history.Op, property string, steps []story.Step) Cause {
	turned, struck := map[story.Kind]bool{}, map[Struck]bool{}
	for _, s := range steps {
		switch {
		case s.Kind == story.StepFault && s.Op >= 0 && ops[s.Op].Fault != nil:
			struck[Struck{ops[s.Op].Fault.Kind, whom(setup, ops, steps, s.Op)}] = true
		case slices.Contains(turns, s.Kind):
			turned[s.Kind] = true
		}
	}
	c := Cause{Property: property, Traits: Traits{slices.Sorted(maps.Keys(turned)), slices.SortedFunc(maps.Keys(struck), func(a, b Struck) int {
		return cmp.Or(cmp.Compare(a.Fault, b.Fault), cmp.Compare(a.Whom, b.Whom))
	})}}
	c.Name = c.name()
	return c
}

// after says that clients act too late in a story, each of them after a deadline that it had been told while there was time to go:
// every lease allows that.
func after(steps []story.Step) (some bool) {
	for i, late := range steps {
		if late.Kind != story.StepZombie {
			continue
		}
		some = true
		inTime := false
		for _, s := range steps[:i] { // its last grant counts
			if s.Kind == story.StepGrant && s.Who == late.Who {
				inTime = s.Left != nil && *s.Left > 0
			}
		}
		if !inTime || late.Left == nil || *late.Left >= 0 {
			return false
		}
	}
	return some
}

// lossTold says that of the holders whom a violation names one was told of the loss of its lock before the last of them was granted
// theirs, or before it did anything since.
func lossTold(ops []history.Op, v checker.Violation) bool {
	granted, holders := 0, map[string]bool{} // granted: the last of their grants
	for _, i := range v.Operations {
		if op := &ops[i]; op.Type == history.OK && (op.F == history.Acquire || op.F == history.Try) {
			granted, holders[op.Owner] = max(granted, i), true
		}
	}
	done := map[string]bool{} // what they have done since
	for i := range ops {
		switch op := &ops[i]; {
		case !holders[op.Owner]:
		case op.F == history.Lost:
			if !done[op.Owner] {
				return true
			}
		case i > granted && op.Type == history.Invoke:
			done[op.Owner] = true
		}
	}
	return false
}

// unheeded says that each client which acts too late was told of its loss before, or was stopped itself: a lock that renews by itself
// tells no later deadline, and nobody but it knows that a renewal fails. Who does not run cannot be told.
func unheeded(ops []history.Op, steps []story.Step) bool {
	for i, late := range steps {
		excused := func(s story.Step) bool {
			if s.Kind != story.StepFault || s.Op < 0 || ops[s.Op].Fault == nil {
				return s.Kind == story.StepTold && s.Who == late.Who
			}
			f := ops[s.Op].Fault
			return f.Target == late.Who && history.FaultOf(f.Kind).Stops
		}
		if late.Kind != story.StepZombie {
			continue
		}
		granted := 0 // what came before its last grant is of another hold
		for n, s := range steps[:i] {
			if s.Kind == story.StepGrant && s.Who == late.Who {
				granted = n
			}
		}
		if !slices.ContainsFunc(steps[granted:i], excused) {
			return false
		}
	}
	return true
}

// whom a fault struck, by the steps of the story.
func whom(setup history.Setup, ops []history.Op, steps []story.Step, fault int) Whom {
	struck := ops[fault].Fault.Target
	late := slices.IndexFunc(steps, func(s story.Step) bool { return s.Kind == story.StepZombie && s.Who == struck })
	switch {
	case slices.Contains(setup.Servers, struck):
		return Server
	case late < 0:
		return ""
	case slices.ContainsFunc(steps[:late], func(s story.Step) bool { return s.Kind == story.StepGrant && s.Who == struck && s.Op < fault }):
		return Holder
	}
	return Waiter
}

// name says a cause in one line: "mutual-exclusion: pause of the holder+zombie".
func (c Cause) name() string {
	of := map[Whom]string{Server: " of a server", Holder: " of the holder", Waiter: " of the waiter"}
	told := map[string]bool{}
	for _, kind := range c.Turns {
		told[string(kind)] = true
	}
	for _, s := range c.Struck {
		told[s.Fault+of[s.Whom]] = true
	}
	return c.Property + ": " + words(told)
}

// same says that two causes are one: the same turns of the same property, where the faults of one
// story are among those of the other. What comes without a fault comes beside any, too.
func (c Cause) same(o Cause) bool {
	if c.Name == o.Name {
		return true
	}
	if c.Property != o.Property || c.Name != c.name() || o.Name != o.name() { // an older dlmtest wrote no traits
		return false
	}
	firm := func(all []story.Kind) []story.Kind {
		return slices.DeleteFunc(slices.Clone(all), func(k story.Kind) bool { return slices.Contains(chance, k) })
	}
	return slices.Equal(firm(c.Turns), firm(o.Turns)) && (within(c.Struck, o.Struck) || within(o.Struck, c.Struck))
}

func within(few, many []Struck) bool {
	return !slices.ContainsFunc(few, func(s Struck) bool { return !slices.Contains(many, s) })
}
