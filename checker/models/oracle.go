package models

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/dlmtest/dlmtest/history"
)

// The limits within which Porcupine is asked about one key: its search takes time and
// memory that nobody can foresee, so these are what is limited. OracleOps is how long a
// history is put to it without being asked for, and of how many events evidence is looked for.
const (
	OracleOps  = 20000
	OracleTime = 5 * time.Second
)

// What Porcupine says of a history, beside "gave up: …".
const (
	Legal   = "legal"
	Illegal = "illegal"
)

// question is what the child reads after the first line.
type question struct {
	Options Options `json:"options"`
	Ops     []Op    `json:"ops"`
}

// Asker returns an Ask for Options that puts each question to a child process:
// self is a command that answers by Answer, such as /proc/self/exe oracle, and
// limits its own memory.
func Asker(ctx context.Context, self []string) func(string, Options, []Op) string {
	return func(model string, o Options, ops []Op) string {
		text, err := json.Marshal(question{o, ops})
		if err != nil {
			return "gave up: " + err.Error()
		}
		return RunChild(ctx, self, model, text)
	}
}

// onlySearched says whether no sweep decides a model, but only Porcupine.
func onlySearched(model string) bool {
	return slices.Contains([]string{"register", "cas-register", "kv", Etcd}, model)
}

// RunChild starts self, writes the name of a model and a question to it, and
// returns its answer, or "gave up: …" and why.
func RunChild(all context.Context, self []string, model string, text []byte) string {
	ctx, cancel := context.WithTimeout(all, OracleTime)
	defer cancel()
	var answer, trouble limited
	child := exec.CommandContext(ctx, self[0], self[1:]...)
	child.Stdin = io.MultiReader(strings.NewReader(model+"\n"), bytes.NewReader(text))
	child.Stdout, child.Stderr = &answer, &trouble
	child.WaitDelay = time.Second
	// It ends with this process, and so with this thread, which the kernel takes for it.
	child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	switch err := child.Run(); {
	case all.Err() != nil:
		return fmt.Sprintf("gave up: %v", context.Cause(all))
	case ctx.Err() != nil:
		return fmt.Sprintf("gave up: no answer within %s", OracleTime)
	case answer.over:
		return fmt.Sprintf("gave up: its answer is longer than %d bytes", answerLimit)
	case err != nil:
		first, _, _ := strings.Cut(strings.TrimSpace(trouble.kept.String()), "\n")
		return fmt.Sprintf("gave up: the oracle ended with %v: %s", err, first)
	}
	return strings.TrimSpace(answer.kept.String())
}

// answerLimit is how much of a child's output is kept: a drawing is the longest.
const answerLimit = 32 << 20

// limited keeps the beginning of what is written to it.
type limited struct {
	kept bytes.Buffer
	over bool
}

// Write implements io.Writer.
func (l *limited) Write(p []byte) (int, error) {
	if l.over = l.over || l.kept.Len()+len(p) > answerLimit; l.over {
		return len(p), nil
	}
	return l.kept.Write(p)
}

// Answer reads the question that follows the name of a model, in the child.
func Answer(model string, in io.Reader) string {
	var q question
	if err := json.NewDecoder(in).Decode(&q); err != nil {
		return "gave up: cannot read the question: " + err.Error()
	}
	if model, drawing := strings.CutPrefix(model, drawOf); drawing {
		return answerDrawing(model, q, OracleTime*9/10)
	}
	if model, minimal := strings.CutPrefix(model, minimalOf); minimal {
		return answerMinimal(model, q)
	}
	return Consult(model, q.Options, q.Ops, OracleTime*9/10)
}

// Consult asks Porcupine about the operations of one key in this process, which
// has no limit of memory: it is for the child, and for tests. limit 0: none.
func Consult(model string, o Options, ops []Op, limit time.Duration) string {
	m, ok := specs[model]
	if !ok {
		return fmt.Sprintf("gave up: no model %q", model)
	}
	switch porcupine.CheckOperationsTimeout(m.porcupine(o), operations(ops), limit) {
	case porcupine.Ok:
		return Legal
	case porcupine.Illegal:
		return Illegal
	}
	return "gave up: no answer in time"
}

// operations writes operations for Porcupine; what did not return returns at
// the end of time.
func operations(ops []Op) []porcupine.Operation {
	var all []porcupine.Operation
	for i := range ops {
		p := porcupine.Operation{ClientId: i, Input: &ops[i], Call: int64(ops[i].Call), Return: int64(ops[i].Return)}
		if ops[i].Type == history.Info {
			p.Return = math.MaxInt64
		}
		all = append(all, p)
	}
	return all
}

// Confirm puts a history to Porcupine and writes what it said into the result:
// confirmed, contradicted, or gave up and why, in which case the verdict of the
// sweep stands. A contradiction is a bug of dlmtest, and no verdict is left.
func Confirm(m Model, o Options, events []Event, ask func(string, Options, []Op) string, r *Result) {
	if r.Verdict != Holds && r.Verdict != Violated || r.Oracle == Decided {
		return
	}
	want := map[Verdict]string{Holds: Legal, Violated: Illegal}[r.Verdict]
	said := "gave up: there are no operations to ask about"
	for _, ops := range Ops(m, o, events) {
		if onlySearched(m.Name) { // what says nothing by the reading that was judged
			ops = slices.DeleteFunc(ops, func(op Op) bool { return o.silent(op.F, op.Type, op.Value) })
		}
		if said = told(m.Name, o, ops, ask); said != Legal {
			break
		}
	}
	switch said {
	case Untold:
		r.Oracle = said
	case want:
		r.Oracle = Confirmed
	case Legal, Illegal:
		r.Oracle = Contradicted
		r.Verdict, r.Reason = Unknown, "a bug of dlmtest: Porcupine contradicts the verdict: "+r.Reason
	default:
		r.Oracle = said
	}
}

// Untold is what Porcupine's answer is worth where it hangs on an owner whom the source does not tell.
const Untold = "not confirmed: who some operation is for is not told, and its answer depends on it"

// told asks Porcupine about the operations of one key, and says Untold where it would say
// something else if operations whose owner the source does not tell were of others.
func told(model string, o Options, ops []Op, ask func(string, Options, []Op) string) string {
	said := ask(model, o, ops)
	switch {
	case said == Legal && slices.ContainsFunc(ops, func(op Op) bool { return op.Owner == Anybody }):
		if ask(model, o, slices.DeleteFunc(slices.Clone(ops), func(op Op) bool { return op.Owner == Anybody })) != Legal {
			return Untold
		}
	case said == Illegal:
		return freed(model, o, ops, ask)
	}
	return said
}

// freed asks about an illegal history once more, in which operations whose owner the source
// does not tell may be of anybody.
func freed(model string, o Options, ops []Op, ask func(string, Options, []Op) string) string {
	if !slices.ContainsFunc(ops, func(op Op) bool { return op.Implied && op.Type != history.Fail }) {
		return Illegal
	}
	free := slices.Clone(ops)
	for i := range free {
		if free[i].Implied {
			free[i].Owner = Anybody
		}
	}
	said := ask(model, o, free)
	if said == Legal {
		return Untold
	}
	return said
}

// Ops returns the operations of each key of a history that breaks no assumption
// of a model, in the order of their returns.
func Ops(m Model, o Options, events []Event) [][]Op { return opsOf(m, o, events, nil) }

// opsOf is Ops; whole, if there is one, says that they are all.
func opsOf(m Model, o Options, events []Event, whole *bool) [][]Op {
	f, ok := m.New(o).(*front)
	if !ok {
		return nil
	}
	f.collects = true
	var keys []*collector
	inner := f.judge
	f.judge = func(k *keyLog, fd *found) judge {
		c := &collector{judge: inner(k, fd), key: k, front: f}
		keys = append(keys, c)
		return c
	}
	for _, e := range events {
		if f.Add(e) != nil {
			return nil
		}
	}
	f.End()
	if whole != nil {
		*whole = len(f.unjudged) == 0
	}
	var all [][]Op
	for _, c := range keys {
		for _, i := range c.untold {
			if c.key.named {
				c.ops[i].Owner = Anybody
			}
		}
		all = append(all, c.ops)
	}
	return all
}

// collector collects the operations of one key in place of its judge, which is only
// asked whether a call breaks an assumption.
type collector struct {
	judge
	key    *keyLog
	ops    []Op
	untold []int // of ops: see operation
	front  *front
}

func (c *collector) done(op *operation) {
	// Who holds a reentrant lock may ask for it again and not learn what came of it, and
	// go on as another process: its release may be of anybody, too.
	if op.untold || op.Type == history.Info && (c.front.loose(op) || c.front.name == "reentrant" && op.F == Release && op.owner.name == "") {
		c.untold = append(c.untold, len(c.ops))
	}
	if op.owner != nil && op.owner.name == "" && taking(op.F) && op.Type == history.OK {
		op.owner.lent = true // it has something to give back: see front.nobodys
	}
	c.ops = append(c.ops, opOf(op))
}

func (c *collector) end() {}
