package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/mattn/go-shellwords"
	"github.com/spf13/pflag"
)

// adapterFlags are those of the user's own adapter, see docs/protocol.md.
type adapterFlags struct {
	command, files, image string
	argv                  []string // of command; set by check
	given                 *pflag.Flag
}

func (f *adapterFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.command, "adapter", "", "your own lock client: the `command` of an adapter that speaks the lock client protocol, run in each client node")
	f.given = flags.Lookup("adapter")
	f.registerFiles(flags)
}

func (f *adapterFlags) registerFiles(flags *pflag.FlagSet) {
	flags.StringVar(&f.files, "adapter-files", "", "`folder` that client nodes see at /adapter, read-only")
	flags.StringVar(&f.image, "client-image", "", "Docker `image` of the client nodes, with what the adapter needs (default: a plain Debian)")
}

// check splits the command into words, as a shell would.
func (f *adapterFlags) check(backends, libraries []string) error {
	words := shellwords.NewParser()
	argv, err := words.Parse(f.command)
	switch {
	case f.given != nil && f.given.Changed && f.command == "": // as of a variable that is not set; the backend's own lock must not pass for it
		return usageError{errors.New("--adapter is empty: give the command of your adapter, or leave the flag out for the backend's own lock")}
	case err != nil || (f.command != "" && len(argv) == 0):
		return usageError{fmt.Errorf("--adapter %s: %w", f.command, errors.Join(err, errors.New("want a command")))}
	case f.command != "" && len(libraries) > 0:
		return usageError{errors.New("--adapter and --library both name the lock under test; give one of them")}
	case f.command != "" && len(backends) == 0:
		return usageError{errors.New("--adapter: --backend is missing, which says what servers the adapter uses, such as redis, zookeeper or etcd")}
	}
	f.argv = argv
	return f.checkFiles()
}

func (f *adapterFlags) checkFiles() error {
	if f.files == "" {
		return nil
	}
	if info, err := os.Stat(f.files); err != nil || !info.IsDir() {
		return usageError{fmt.Errorf("--adapter-files %s: want a folder", f.files)}
	}
	return nil
}
