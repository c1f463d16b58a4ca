package outside

import (
	"fmt"
	"syscall"
)

// Main plays one part of the measuring: "server DATA C-PROGRAM MARK PEERS…", "client MARK", or one that these start.
func Main(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("outside: which part?")
	}
	part, args := args[0], args[1:]
	switch {
	case part == "server" && len(args) > 3:
		return server(options{args[0], args[1], args[2], args[3]}, args[4:])
	case part == "client" && len(args) == 1:
		return client(args[0])
	case part == "healthy":
		return healthy()
	case len(args) == 2: // mark, clocks
		return relative(part, args[0], args[1] == "clocks")
	}
	return fmt.Errorf("outside: %s %q is no part", part, args)
}

func diesWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
