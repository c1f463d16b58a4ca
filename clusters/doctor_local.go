package clusters

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/clusters/local"
)

const runtimeLocal = "local"

func doctorLocal(ctx context.Context, self string) []Finding {
	spaces := Finding{Runtime: runtimeLocal, What: "user namespaces", Needed: true, OK: true,
		Detail: fmt.Sprintf("made without root's help; a run is user %d on this machine", localHostID())}
	trials, err := tryLocal(ctx, self)
	if err != nil {
		spaces.OK, spaces.Detail, spaces.Fix = false, err.Error(), fixOf(err)
	}
	found := []Finding{spaces}
	found = append(found, trialFindings(runtimeLocal, slices.Concat(local.Needed, local.ForFaults), trials, "no namespaces")...)
	for _, t := range servers { // in their order
		if s := t.local; len(s.programs) > 0 {
			found = append(found, serverFinding(ctx, t.name, s))
		}
	}
	return found
}

// fixOf is what an error says to do.
func fixOf(err error) string {
	if f := (*fixable)(nil); errors.As(err, &f) {
		return f.fix
	}
	if errors.Is(err, ErrNoNamespaces) {
		return "a kernel with CONFIG_USER_NS, or the runtime docker"
	}
	return "see the detail"
}

func serverFinding(ctx context.Context, name string, s localServer) Finding {
	f := Finding{Runtime: runtimeLocal, What: name}
	if missing := s.missing(); len(missing) > 0 {
		f.Detail, f.Fix = strings.Join(missing, "; "), "apt-get install "+s.packages
		return f
	}
	f.OK, f.Detail = true, programVersion(ctx, s)
	return f
}

// programVersion asks the program itself, and a library by its file's name.
func programVersion(ctx context.Context, s localServer) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var said []string
	for _, jar := range s.files {
		if numbered, _ := filepath.Glob(strings.TrimSuffix(jar, ".jar") + "-[0-9]*.jar"); len(numbered) > 0 {
			said = append(said, strings.TrimSuffix(filepath.Base(numbered[0]), ".jar"))
		}
	}
	path, err := findProgram(s.programs[0])
	if err != nil {
		return err.Error()
	}
	out, err := exec.CommandContext(ctx, path, "--version").CombinedOutput()
	if err != nil {
		return fmt.Sprintf("%s --version: %v", path, err)
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return strings.Join(append(said, first), ", ") + " (" + path + ")"
}
