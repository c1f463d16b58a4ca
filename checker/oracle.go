package checker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/history"
)

// The limits within which the oracle is asked: beyond them its search takes
// time and memory that nobody can foresee.
const (
	oracleOps      = 2000
	oracleUnknowns = 15
	oracleTime     = 5 * time.Second
	oracleMemory   = 2 << 30 // address space of the child, bytes
	oracleAsked    = 10      // violations of one property that are put to it
)

// What the oracle says in Violation.Oracle, beside "gave up: …".
const (
	Confirmed    = "confirmed"
	Contradicted = "contradicted"
)

// Confirm asks Porcupine about the violations of mutual-exclusion and
// lease-exclusion: the holds around each must not be linearizable as a strict
// mutex with owners. It runs self (a command that calls OracleMain, such as
// /proc/self/exe oracle) as a child with a time and a memory limit, and writes
// its answers into result. A contradiction is a bug of dlmtest and becomes a doubt.
func Confirm(ctx context.Context, self []string, setup history.Setup, ops []history.Op, result *Result) {
	var r *run
	for p := range result.Properties {
		property := &result.Properties[p]
		if property.Name != "mutual-exclusion" && property.Name != "lease-exclusion" {
			continue
		}
		asked := 0
		for i := range property.Violations {
			v := &property.Violations[i]
			if v.Possible || asked == oracleAsked {
				continue
			}
			asked++
			if r == nil {
				r = newRun(setup, ops)
			}
			v.Oracle = r.ask(ctx, self, v)
			if v.Oracle == Contradicted {
				result.Doubts = append(result.Doubts,
					fmt.Sprintf("A bug of dlmtest: Porcupine contradicts a violation of %s: %s", property.Name, v.Message))
			}
		}
	}
}

// hold is one session of a window: an acquire and its release, by their times.
// An acquire without Returned may never have happened; a release without
// Called did not happen in the window, one without Done may never have.
type hold struct {
	Owner    string `json:"owner"`
	Asked    int64  `json:"asked"`
	Returned int64  `json:"returned,omitempty"`
	Called   int64  `json:"called,omitempty"`
	Done     int64  `json:"done,omitempty"`
}

// ask puts one violation to the oracle and returns what it said.
func (r *run) ask(ctx context.Context, self []string, v *Violation) string {
	window, err := r.window(v)
	if err != nil {
		return "gave up: " + err.Error()
	}
	question, err := json.Marshal(window)
	if err != nil {
		return "gave up: " + err.Error()
	}
	ctx, cancel := context.WithTimeout(ctx, oracleTime)
	defer cancel()
	var answer, trouble bytes.Buffer
	child := exec.CommandContext(ctx, self[0], self[1:]...)
	child.Stdin, child.Stdout, child.Stderr = bytes.NewReader(question), &answer, &trouble
	child.WaitDelay = time.Second
	switch err := child.Run(); {
	case ctx.Err() != nil:
		return fmt.Sprintf("gave up: no answer within %s", oracleTime)
	case err != nil:
		first, _, _ := strings.Cut(strings.TrimSpace(trouble.String()), "\n")
		return fmt.Sprintf("gave up: the oracle ended with %v: %s", err, first)
	}
	return strings.TrimSpace(answer.String())
}

// holdEnd is the end of the belief of g; if its holder was killed, that of its lease.
func (r *run) holdEnd(g *grant) int64 {
	if deadline, known := r.raw(g.node, g.deadline(r)); known && g.killed {
		return max(g.end, deadline)
	}
	return g.end
}

// window collects the holds around a violation. The two grants in question hold
// for as long as their clients believed; of the others on the key only those
// that were given back, as a lease that ran out is no error of a strict mutex.
// Leaving out a whole session never makes a history of a mutex illegal, so what
// the oracle rejects here is illegal in the whole history too.
func (r *run) window(v *Violation) ([]hold, error) {
	pair := map[*grant]bool{}
	from, to := int64(forever), int64(0)
	var k *keyLog
	for _, i := range v.Operations {
		op := &r.ops[i]
		if g := r.byOwner[op.Owner]; g != nil && g.op == i {
			pair[g] = true
			k = g.key
			from, to = min(from, g.sent), max(to, g.ok)
		}
	}
	if len(pair) != 2 {
		return nil, errors.New("the violation does not name two grants")
	}
	var holds []hold
	unknowns := 0
	for _, g := range k.grants {
		h := hold{Owner: g.owner, Asked: g.invoked - r.begin + 1, Returned: g.ok - r.begin + 1}
		if end := r.holdEnd(g); end != forever {
			h.Called = end - r.begin + 1
		}
		if g.released >= 0 && g.end == r.ops[g.release].Time {
			h.Done = r.ops[g.released].Time - r.begin + 1
		}
		if !pair[g] && (g.ok <= from || g.ok >= to || h.Done == 0) {
			continue
		}
		if h.Done == 0 {
			unknowns++
		}
		holds = append(holds, h)
	}
	for i, w := range k.waits {
		if w.done >= 0 && r.ops[w.done].Type == history.Info && w.from < to && w.to > from {
			holds = append(holds, hold{Owner: fmt.Sprintf("unknown %d", i), Asked: w.from - r.begin + 1})
			unknowns++
		}
	}
	if 2*len(holds) > oracleOps || unknowns > oracleUnknowns {
		return nil, fmt.Errorf("the window has %d operations and %d unknowns, more than %d and %d", 2*len(holds), unknowns, oracleOps, oracleUnknowns)
	}
	return holds, nil
}
