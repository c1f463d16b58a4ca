package agent

import (
	"fmt"
	"os"
	"path"
	"regexp"
)

// absolute are programs whose waits end at absolute times of a clock that they read in user
// space, while the kernel keeps them by the true one: after a drift Thread.sleep(400) takes
// seconds, or returns at once, for the rest of the program's life (measured, see vdso).
var absolute = regexp.MustCompile(`^(java|jshell|jwebserver|client-java(:.*)?)$|^(python|pypy)[0-9.]*$|^client-python(:.*)?$`)

// Ruined names what of a program, by its file or image, does not survive a drift of its clocks;
// empty: none that is known.
func Ruined(program string) string {
	name := path.Base(program)
	switch {
	case !absolute.MatchString(name):
		return ""
	case name[0] == 'j' || len(name) > 7 && name[:8] == "client-j":
		return "a JVM (" + name + ")"
	}
	return "Python (" + name + ")"
}

// survivesDrift refuses to let clocks drift under a program that this ruins, by the executables
// of all processes of the node: a script may start what its own name does not tell.
func (c *child) survivesDrift() error {
	for _, pid := range c.processes() {
		exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
		if err != nil {
			continue // it has ended
		}
		if name := Ruined(exe); name != "" {
			return refusal(fmt.Sprintf("clock: %s does not survive a drift of its clocks, as its waits end at absolute "+
				"times; slew REALTIME instead, or say clock: {drift: …, anyway: true}", name))
		}
	}
	return nil
}
