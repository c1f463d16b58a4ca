package hunt

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/nemesis"
	"github.com/dlmtest/dlmtest/scenarios"
)

// fault draws one fault, which may come after one of those before it. What it draws may be
// nonsense: the validation knows better.
func (s Space) fault(d die, before []scenarios.Fault) scenarios.Fault {
	kind := pick(d, s.kinds())
	f := scenarios.Fault{Fault: kind.Name, Count: 1, On: "at", For: span(leases(d.log(0.01, 3)))}
	if d.one(3) { // what ends a lease
		f.For = span(leases(d.log(0.8, 3)))
	}
	s.trigger(d, &f, before)
	switch {
	case kind.Link:
		s.link(d, kind, &f)
	case kind.Disk:
		f.Target = pick(d, onServers)
		f.Mode = map[bool]string{true: "", false: "torn"}[kind.Name != "crash" || !d.one(4)]
	case kind.Name == "partition":
		partition(d, &f)
	case kind.Name == "clock":
		f.Target, f.Clock = pick(d, slices.Concat(onServers, onClients)), bent(d)
	case kind.Name == "stall-worker":
		f.Target = "holder"
	default:
		f.Target = pick(d, slices.Concat(onServers, onClients, onClients))
		f.Back = kind.Name == "kill" && slices.Contains(onClients, f.Target) && d.one(2)
	}
	switch {
	case f.On == "at" && d.one(6):
		f.Count, f.Every = 2+d.IntN(3), leases(d.log(0.02, 1))
	case f.On != "at" && d.one(6):
		f.For.Until = pick(d, untils)
	}
	return f
}

// kinds are the faults that there can be: those of the servers only where there are some.
func (s Space) kinds() []history.FaultKind {
	if s.Servers {
		return history.FaultKinds
	}
	return slices.DeleteFunc(slices.Clone(history.FaultKinds), func(k history.FaultKind) bool { return k.Disk })
}

// roles are the names of targets that there are: a slip does not pass a start of the program.
func roles(names ...string) []string {
	for _, n := range names {
		if nemesis.Targets[n] == "" {
			panic("hunt: no target is named " + n)
		}
	}
	return names
}

// trigger draws when a fault comes: at a checkpoint of a client, at a time, or after another.
func (s Space) trigger(d die, f *scenarios.Fault, before []scenarios.Fault) {
	switch {
	case len(before) > 0 && d.one(3):
		f.After = scenarios.After{Fault: pick(d, before).Name,
			When: pick(d, []string{nemesis.WhenBegun, nemesis.WhenHealed})}
		f.At = leases(d.log(0.01, 1))
	default:
		f.At = leases(d.Float64() * loadLeases / 2)
	}
	if !d.one(4) {
		f.On = pick(d, checkpoints)
	}
}

// link draws what a fault of a client's links needs.
func (s Space) link(d die, kind history.FaultKind, f *scenarios.Fault) {
	f.Target = pick(d, nemesis.Ones)
	if d.one(3) {
		f.To = pick(d, farEnds)
	}
	switch kind.Name {
	case "latency":
		f.Latency = fixed(time.Duration(d.log(1, 500)) * time.Millisecond)
		f.Jitter = fixed(time.Duration(d.Float64() * float64(f.Latency.Fixed)).Round(time.Millisecond))
	case "bandwidth":
		f.Rate = int(d.log(100, 100_000))
	}
	if kind.Message && (kind.MessageOnly || !d.one(4)) {
		s.message(d, f)
	}
}

// message draws the message that a fault waits for: the first, second or third request that names a key,
// whatever it is called, or one that was learnt.
func (s Space) message(d die, f *scenarios.Fault) {
	f.When = scenarios.When{Contains: "key-1", Skip: []int{0, 0, 1, 1, 2, 3}[d.IntN(6)], After: d.one(2)}
	if len(s.Messages) > 0 && d.one(2) {
		m := pick(d, s.Messages)
		f.When = scenarios.When{Direction: string(m.Direction), Name: m.Name, Contains: m.Contains,
			Skip: []int{0, 0, 0, 0, 1, 1, 2, 5}[d.IntN(8)], After: d.one(2)}
	}
}

func partition(d die, f *scenarios.Fault) {
	f.Direction = pick(d, []string{"", "", "in", "out"})
	if d.one(4) {
		f.Target = pick(d, shapes)
		return
	}
	f.Target = pick(d, slices.Concat(onServers, onClients))
	if d.one(2) {
		f.From = pick(d, slices.Concat([]string{"servers"}, onServers, onClients))
	}
}

// bent draws how clocks go wrong: a step, a strobe, or a wrong rate.
func bent(d die) scenarios.Clock {
	switch d.IntN(4) {
	case 0:
		return scenarios.Clock{Strobe: leases(d.log(0.1, 3)), Every: leases(d.log(0.05, 0.5)), Back: d.one(2)}
	case 1:
		return scenarios.Clock{Drift: math.Round((d.Float64()-0.5)*20) / 100}
	}
	return scenarios.Clock{Step: leases(d.log(0.1, 5)), Back: d.one(2)}
}

// unused is a name that no fault has.
func unused(all []scenarios.Fault) string {
	for n := 1; ; n++ {
		name := fmt.Sprintf("fault-%d", n)
		if !slices.ContainsFunc(all, func(f scenarios.Fault) bool { return f.Name == name }) {
			return name
		}
	}
}
