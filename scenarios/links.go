package scenarios

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/near"
	"github.com/dlmtest/dlmtest/nemesis"
	"github.com/dlmtest/dlmtest/nemesis/agent/links/wire"
)

// When is a message on a link: one of a name, or with some bytes in it, or both; or
// the byte after so many.
type When struct {
	// Direction is whose message it is: request (if not given) or answer.
	Direction string `yaml:"direction,omitempty" words:"side"`
	// Name is what the protocol calls the message: EVAL, create, Query, HEADERS; in any case.
	Name string `yaml:"name,omitempty"`
	// Contains are bytes of the message.
	Contains string `yaml:"contains,omitempty"`
	// Bytes is how many bytes of a connection pass first.
	Bytes int `yaml:"bytes,omitempty" jsonschema:"minimum=0"`
	// Skip is how many such messages pass first.
	Skip int `yaml:"skip,omitempty" jsonschema:"minimum=0"`
	// After strikes behind the message, which still passes; else in front of it.
	After bool `yaml:"after,omitempty"`
}

// clientName is how a run names its clients.
var clientName = regexp.MustCompile(`^client-[1-9][0-9]*$`)

// links checks the fields that only faults of links have.
func (v *validator) links(path string, f Fault) {
	if !slices.Contains(nemesis.OnLinks, f.Fault) {
		for _, field := range f.onlyLinks() {
			v.problem(path+"."+field, "only faults of links have it: %s", strings.Join(nemesis.OnLinks, ", "))
		}
		return
	}
	if !slices.Contains(nemesis.Ones, f.Target) && !clientName.MatchString(f.Target) {
		v.problem(path+".target", "%s is a fault of a client's links; want %s or a client such as client-1, and the "+
			"server in to:", f.Fault, strings.Join(nemesis.Ones, ", "))
	}
	if _, role := nemesis.FarEnds[f.To]; f.To != "" && !role && !(namePattern.MatchString(f.To) && strings.ContainsAny(f.To, digits)) {
		v.problem(path+".to", "unknown far end %q%s, or name a node such as redis-1", f.To, near.Hint(f.To, namesOf(nemesis.FarEnds)))
	}
	v.slow(path, f)
	v.when(path, f)
}

// onlyLinks are the fields that are set and that only faults of links have.
func (f Fault) onlyLinks() []string {
	var set []string
	for _, field := range []struct {
		name string
		set  bool
	}{{"to", f.To != ""}, {"when", f.When != (When{})}, {"latency", !f.Latency.IsZero()}, {"jitter", !f.Jitter.IsZero()}, {"rate", f.Rate != 0}} {
		if field.set {
			set = append(set, field.name)
		}
	}
	return set
}

// slow checks how slow, or how narrow, links are to be.
func (v *validator) slow(path string, f Fault) {
	v.duration(path+".latency", f.Latency)
	v.duration(path+".jitter", f.Jitter)
	switch {
	case f.Fault == "latency" && f.Latency.IsZero():
		v.problem(path+".fault", "latency: say how much, such as latency: 60ms")
	case f.Fault != "latency" && !f.Latency.IsZero():
		v.problem(path+".latency", "only the fault latency has it")
	case f.Fault != "latency" && !f.Jitter.IsZero():
		v.problem(path+".jitter", "only the fault latency has it")
	case (f.Latency.Leases == 0) == (f.Jitter.Leases == 0) && f.Jitter.Of(1e9) > f.Latency.Of(1e9):
		v.problem(path+".jitter", "%s is more than the latency of %s; want at most as much", f.Jitter, f.Latency)
	}
	switch {
	case f.Fault == "bandwidth" && f.Rate <= 0:
		v.problem(path+".fault", "bandwidth: say how many bytes a second, such as rate: 2000")
	case f.Fault != "bandwidth" && f.Rate != 0:
		v.problem(path+".rate", "only the fault bandwidth has it")
	}
}

// when checks the message that a fault waits for.
func (v *validator) when(path string, f Fault) {
	w := f.When
	none := w.Name == "" && w.Contains == "" && w.Bytes == 0
	path += ".when"
	switch {
	case history.FaultOf(f.Fault).MessageOnly && none:
		v.problem(strings.TrimSuffix(path, ".when")+".fault", "%s: say on what message, such as when: {name: create, after: true}; reset cuts at once", f.Fault)
	case w != (When{}) && !slices.Contains(nemesis.OnMessages, f.Fault):
		v.problem(path, "%s does not wait for a message; only %s do", f.Fault, strings.Join(nemesis.OnMessages, ", "))
	case w != (When{}) && f.Target == "a-waiter":
		v.problem(path, "who waits is known at the trigger only, when its messages may have passed; want the target holder with on: waiting")
	case none && w != (When{}):
		v.problem(path, "direction, skip and after need a name, contains or bytes")
	case w.Bytes != 0 && (w.Name != "" || w.Contains != ""):
		v.problem(path+".bytes", "bytes go with neither name nor contains")
	case w.Bytes < 0 || w.Skip < 0:
		v.problem(path, "bytes and skip must not be below 0")
	case w.Direction != "" && !slices.Contains(Vocabulary["side"], w.Direction):
		v.problem(path+".direction", "%q is neither request nor answer", w.Direction)
	case w.Name != "":
		v.message(path+".name", w)
	}
}

// message checks the name of a message. Which protocol the servers speak, the runner
// knows: here it must be a name in any of them.
func (v *validator) message(path string, w When) {
	if why := Unnamed(w, wire.Protocols...); why != "" {
		v.problem(path, "%s", why)
	}
}

// Unnamed says why no message of these protocols has the name that w waits for, and
// what may have been meant; "" if one has.
func Unnamed(w When, protocols ...wire.Protocol) string {
	request, kind, other := true, "request", "answer"
	if w.Direction == "answer" {
		request, kind, other = false, "answer", "request"
	}
	var words, spoken []string
	hint := "; if the servers have it, wait for its bytes, such as contains: " + w.Name
	for _, p := range protocols {
		if p.Names(w.Name, request) {
			return ""
		}
		if p.Names(w.Name, !request) {
			hint = fmt.Sprintf("; one in the other direction is, so say direction: %s", other)
		}
		words, spoken = append(words, wire.Words(p, request)...), append(spoken, string(p))
	}
	if best := near.Nearest(w.Name, words); len(best) > 0 {
		hint = fmt.Sprintf("; did you mean %q?", best[0])
	}
	return fmt.Sprintf("no %s of %s is called %q%s", kind, strings.Join(spoken, ", "), w.Name, hint)
}
