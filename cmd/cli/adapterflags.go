package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/mattn/go-shellwords"
	"github.com/spf13/pflag"

	"github.com/dlmtest/dlmtest/internal/settings"
)

// adapterFlags are those of the user's own adapter, see docs/protocol.md.
type adapterFlags struct{ command string }

func (f *adapterFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.command, "adapter", "", strings.Replace(settings.Of("adapter").Help, "command", "`command`", 1))
}

// words splits the command as a shell would, and checks what stands beside it.
func (f *adapterFlags) words(given bool, backends, libraries []string) ([]string, error) {
	argv, err := shellwords.NewParser().Parse(f.command)
	switch {
	case given && f.command == "": // as of a variable that is not set; the backend's own lock must not pass for it
		return nil, usageError{errors.New("--adapter is empty: give the command of your adapter, or leave the flag out for the backend's own lock")}
	case err != nil || (f.command != "" && len(argv) == 0):
		return nil, usageError{fmt.Errorf("--adapter %s: %w", f.command, errors.Join(err, errors.New("want a command")))}
	case f.command != "" && len(libraries) > 0:
		return nil, usageError{errors.New("--adapter and --library both name the lock under test; give one of them")}
	case f.command != "" && len(backends) == 0:
		return nil, usageError{errors.New("--adapter: --backend is missing, which says what servers the adapter uses, such as redis, zookeeper or etcd")}
	}
	return argv, nil
}

// isFolder refuses adapter files that are no folder.
func isFolder(files string) error {
	if files == "" {
		return nil
	}
	if info, err := os.Stat(files); err != nil || !info.IsDir() {
		return usageError{fmt.Errorf("--adapter-files %s: want a folder", files)}
	}
	return nil
}
