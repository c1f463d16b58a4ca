package checker

import (
	"bufio"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/dlmtest/dlmtest/checker/models"
	"github.com/dlmtest/dlmtest/internal/raced"
)

// Variables for tests.
var (
	oracleMemory uint64 = 2 << 30 // the address space of the child, in bytes
	setLimit            = unix.Setrlimit
)

// OracleMain is the hidden command that Confirm and models.Asker run: it reads
// the name of a model and a question from stdin, asks Porcupine, writes one line
// to stdout and returns the exit code. It limits the memory of its own process, so
// it must have one to itself: a time limit alone does not stop a search that has eaten the machine.
func OracleMain(stdin io.Reader, stdout io.Writer) int {
	limit := unix.Rlimit{Cur: oracleMemory, Max: oracleMemory}
	if raced.Detector { // its shadow alone can be larger
		limit = unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}
	}
	if err := setLimit(unix.RLIMIT_AS, &limit); err != nil {
		fmt.Fprintf(stdout, "gave up: no memory limit: %v\n", err)
		return 0
	}
	debug.SetMemoryLimit(int64(oracleMemory / 2))
	in := bufio.NewReader(stdin)
	model, err := in.ReadString('\n')
	if err != nil {
		fmt.Fprintf(stdout, "gave up: cannot read the question: %v\n", err)
		return 1
	}
	fmt.Fprintln(stdout, models.Answer(strings.TrimSpace(model), in))
	return 0
}
