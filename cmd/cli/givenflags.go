package cli

import (
	"fmt"
	"io"

	"github.com/mattn/go-shellwords"
	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/runner"
)

// givenFlags say again what a saved run's folder names and cannot ask for itself.
type givenFlags struct {
	runner.Given
	command string // of the adapter
}

const trustLong = `

A run's folder is data. What it names and is not built in (an adapter, its files, a library at
a commit, an image, a compose file, endpoints) is printed and not used, unless you name the same
on the command line, or give --trust because you wrote the folder or have read each line. A compose
file in that folder, and a secret that was not stored, are never trusted: give them.`

func (f *givenFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&f.Trust, "trust", false, "use what the folder names: adapter, files, image, compose file, endpoints")
	flags.StringVar(&f.Library, "library", "", "the library of the run, where the folder names it at a commit")
	flags.StringVar(&f.command, "adapter", "", "the `command` of the run's adapter")
	flags.StringVar(&f.Files, "adapter-files", "", "the `folder` of the run's adapter files")
	flags.StringVar(&f.Image, "client-image", "", "the `image` of the run's clients")
	flags.StringSliceVar(&f.Endpoints, "endpoint", nil, "the `endpoints` of the run, in their order; only then its bearer token is sent")
	flags.StringVar(&f.Compose, "compose", "", "the compose `file` of the run, wherever it is now")
	flags.BoolVar(&f.AllowHost, "allow-host", false, "let the compose file reach this machine, as dlmtest run has it")
}

// given is what was given, with the adapter's command in words.
func (f givenFlags) given() (g runner.Given, err error) {
	g = f.Given
	if g.Adapter, err = shellwords.NewParser().Parse(f.command); err != nil {
		return g, usageError{fmt.Errorf("--adapter %s: %w", f.command, err)}
	}
	return g, nil
}

// tellTrusted lists what is used because of --trust.
func tellTrusted(w io.Writer, trusted []string, o runner.Options) {
	for _, line := range trusted {
		fmt.Fprintln(w, "trusted: "+line)
	}
	if o.Withhold {
		fmt.Fprintln(w, "$"+runner.BearerVariable+" is not sent to endpoints that a file names: give them with --endpoint")
	}
}
