package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// ending is what a first SIGINT or SIGTERM does to a command. A second one ends any
// command at once, and the janitor removes what is left of a cluster.
type ending struct {
	words  string // said of a command that has a cluster at that moment, or that ends at once
	atOnce bool
	code   int // of a command that does not end by itself
}

var (
	// ends: nothing of the command goes on elsewhere, so nothing holds it up.
	ends = ending{words: "interrupted", atOnce: true, code: exitFailed}
	// served: to be interrupted is how it ends.
	served = ending{words: "stopped", atOnce: true, code: exitHolds}
	judges = ending{words: "interrupted: healing, tearing down and judging what there is; once more to stop at once", code: exitFailed}
	clears = ending{words: "interrupted: taking down what was started; once more to stop at once", code: exitFailed}
	// inside: a role in a node, which its agent ends.
	inside = ending{}
)

// endings has every command, by its path without the program's name.
var endings = map[string]func(*cobra.Command) ending{
	"": always(ends), "help": always(ends), "completion": always(ends),
	"completion bash": always(ends), "completion fish": always(ends), "completion powershell": always(ends), "completion zsh": always(ends),
	"check": always(ends), "convert": always(ends), "diff": always(ends), "explain": always(ends), "gate init": always(ends),
	"images": always(ends), "images key": always(ends), "images list": always(ends), "list": always(ends), "man": always(ends), "schema": always(ends),
	"report": always(ends), "report merge": always(ends), "report choosing": always(ends), "report counts": always(ends),
	"serve": always(served),
	"hunt":  always(judges), "replay": always(judges), "run": always(judges), "selftest": always(judges), "shrink": always(judges),
	"gate":     endingOfGate,
	"corpus":   endingOfCorpus,
	"conform":  endingOfConform,
	"capacity": always(clears),
	"init":     always(clears), // with --conform there is a cluster, of a process of its own
	"doctor":   always(clears), // it tries containers and namespaces
	// mmdebstrap has mounts of its own, which it takes away itself.
	"images build": always(clears),
	// Roles inside a node, and beside the runner.
	"janitor":     always(inside),
	"lockservice": always(inside), "oracle": always(inside), "outside": always(inside), "store": always(inside),
	"trial": always(inside), "worker": always(inside),
}

func always(e ending) func(*cobra.Command) ending { return func(*cobra.Command) ending { return e } }

// endingOf is what an interrupt does to a command with its flags.
func endingOf(cmd *cobra.Command) ending {
	if of, known := endings[pathOf(cmd)]; known {
		return of(cmd)
	}
	return ends
}

// pathOf names a command without the program's name.
func pathOf(cmd *cobra.Command) string {
	return strings.TrimPrefix(strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()), " ")
}

// endingOfGate: with --of nothing runs.
func endingOfGate(cmd *cobra.Command) ending {
	if cmd.Flags().Changed("of") {
		return ends
	}
	return judges
}

// endingOfCorpus: without names it lists.
func endingOfCorpus(cmd *cobra.Command) ending {
	if cmd.Flags().NArg() == 0 {
		return ends
	}
	return judges
}

// endingOfConform: an adapter that is asked about servers of the user's own has no cluster.
func endingOfConform(cmd *cobra.Command) ending {
	if cmd.Flags().Changed("endpoint") && cmd.Flags().ArgsLenAtDash() >= 0 {
		return ends
	}
	return clears
}
