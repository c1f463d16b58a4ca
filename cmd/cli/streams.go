package cli

import (
	"fmt"
	"io"
	"log"
	"os"
	"sync/atomic"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/dlmtest/dlmtest/internal/visible"
)

// All that commands print goes through these, so that nothing in a name, a message or a
// program's words steers the reader's terminal or his CI. No other file of this package
// names os.Stdout or os.Stderr, but for the few that TestStreams lists.
var (
	stdout = visible.Console(printed)
	stderr = visible.Console(os.Stderr)
	// styled is standard output for a report in our own colours, whose words are cleaned
	// where they come in.
	styled = visible.Styled(printed)
)

// printed is standard output.
var printed = &keeper{to: os.Stdout}

// keeper keeps the first error of what is written through it: few who print look at theirs.
type keeper struct {
	to  io.Writer
	err atomic.Pointer[error]
}

func (k *keeper) Write(b []byte) (int, error) {
	n, err := k.to.Write(b)
	if err != nil {
		k.err.CompareAndSwap(nil, &err)
	}
	return n, err
}

// toTheEnd is the exit code of a command, once it is known whether all of its words were written. A
// violation stays one, and what failed for another reason has said so.
func toTheEnd(code int) int {
	flush()
	err := printed.err.Load()
	if err == nil || code != exitHolds && code != exitInconclusive {
		return code
	}
	fmt.Fprintf(stderr, "dlmtest: what it printed is not whole: %v; free some room, or print elsewhere\n", *err)
	return exitFailed
}

// cursor is the terminal on which progress is drawn: a bar, a line that is drawn again. Its
// text is ours, or has gone through visible.Line.
var cursor io.Writer = os.Stderr

// pixels is standard output for what is no text: a picture.
var pixels io.Writer = printed

// speakOnly leads what cobra and libraries print to where the commands print.
func speakOnly(root *cobra.Command) {
	root.SetOut(stdout)
	root.SetErr(stderr)
	log.SetOutput(stderr)
	logrus.SetOutput(stderr)
}

// styledOut is where a command prints a report in our own colours.
func styledOut(cmd *cobra.Command) io.Writer {
	if w := cmd.OutOrStdout(); w != stdout {
		return w
	}
	return styled
}

// flush passes on what was kept of an unfinished character.
func flush() {
	_ = stdout.Flush() // a closed pipe ends the run by signal
	_ = stderr.Flush()
}

// onTerminal says that progress can be drawn.
func onTerminal() bool { return term.IsTerminal(int(os.Stderr.Fd())) }

// columns is the width of the terminal on which progress is drawn.
func columns() int {
	width, _, err := term.GetSize(int(os.Stderr.Fd()))
	if err != nil || width <= 0 {
		return 80
	}
	return width
}

// screen is the width of standard output, and whether that is a terminal.
func screen() (width int, terminal bool) {
	width, _, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		width = 100
	}
	return width, term.IsTerminal(int(os.Stdout.Fd()))
}
