package checker

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"runtime/debug"

	"github.com/anishathalye/porcupine"
	"golang.org/x/sys/unix"
)

// OracleMain is the hidden command that Confirm runs: it reads one window from
// stdin, asks Porcupine, writes one line to stdout and returns the exit code. It
// limits the memory of its own process, so it must have one to itself: a time
// limit alone does not stop a search that has eaten the machine.
func OracleMain(stdin io.Reader, stdout io.Writer) int {
	limit := unix.Rlimit{Cur: oracleMemory, Max: oracleMemory}
	if err := unix.Setrlimit(unix.RLIMIT_AS, &limit); err != nil {
		fmt.Fprintf(stdout, "gave up: no memory limit: %v\n", err)
		return 0
	}
	debug.SetMemoryLimit(oracleMemory / 2)
	var window []hold
	if err := json.NewDecoder(stdin).Decode(&window); err != nil {
		fmt.Fprintf(stdout, "gave up: cannot read the window: %v\n", err)
		return 1
	}
	fmt.Fprintln(stdout, consult(window))
	return 0
}

// consult asks whether a window is linearizable. It must not be.
func consult(window []hold) string {
	switch porcupine.CheckOperationsTimeout(mutexModel.ToModel(), mutexOperations(window), oracleTime*9/10) {
	case porcupine.Illegal:
		return Confirmed
	case porcupine.Ok:
		return Contradicted
	}
	return "gave up: no answer in time"
}

// step is one operation on the mutex.
type step struct {
	owner   string
	release bool
	pending bool // it may never have happened
}

// mutexModel is a mutex with owners; its state is the holder, "" when free. A
// pending operation may also be skipped: without that Porcupine, which places
// every operation somewhere, reports violations that are none.
var mutexModel = porcupine.NondeterministicModel{
	Init: func() []any { return []any{""} },
	Step: func(state, input, _ any) []any {
		holder, s := state.(string), input.(step)
		var next []any
		switch {
		case !s.release && holder == "":
			next = append(next, s.owner)
		case s.release && holder == s.owner:
			next = append(next, "")
		}
		if s.pending {
			next = append(next, holder)
		}
		return next
	},
	Equal: func(a, b any) bool { return a.(string) == b.(string) },
	DescribeOperation: func(input, _ any) string {
		s := input.(step)
		if s.release {
			return "release by " + s.owner
		}
		return "acquire by " + s.owner
	},
}

// mutexOperations writes holds as Porcupine wants them; what did not return
// returns at the end of time.
func mutexOperations(window []hold) []porcupine.Operation {
	var ops []porcupine.Operation
	add := func(s step, call, done int64) {
		if s.pending = done == 0; s.pending {
			done = math.MaxInt64
		}
		ops = append(ops, porcupine.Operation{ClientId: len(ops), Input: s, Call: call, Return: done})
	}
	for _, h := range window {
		add(step{owner: h.Owner}, h.Asked, h.Returned)
		if h.Called != 0 {
			add(step{owner: h.Owner, release: true}, h.Called, h.Done)
		}
	}
	return ops
}
