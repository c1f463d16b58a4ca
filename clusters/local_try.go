package clusters

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/clusters/local"
)

// tryLimit is how long namespaces may take to be made and tried. Seen on two busy processors: over 10 s.
const tryLimit = time.Minute

// tryLocal makes namespaces as a run does and tries in them what runs and faults
// need. An error says that there are none.
func tryLocal(ctx context.Context, self string) ([]local.Trial, error) {
	binary, err := os.Open(self)
	if err != nil {
		return nil, fmt.Errorf("agent binary: %w", err)
	}
	defer binary.Close()
	ctx, cancel := context.WithTimeoutCause(ctx, tryLimit, fmt.Errorf("no answer within %v; while the kernel clears up the network namespaces "+
		"of earlier runs it makes none: try again when the machine is quieter", tryLimit))
	defer cancel()
	cmd := inNamespaces(local.Command, "probe", os.TempDir()) // mounted upon, out of sight of the host
	cmd.ExtraFiles = local.Files(binary, binary, binary, nil) // SelfPath is the third; the others are not used
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Start(); err != nil {
		return nil, explainLocal(err)
	}
	defer context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })()
	if err := cmd.Wait(); err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("try namespaces: %w", context.Cause(ctx))
		}
		err = fmt.Errorf("try namespaces: %w: %s", err, strings.TrimSpace(said.String()))
		if cause := forbidden(); cause != nil {
			err = fmt.Errorf("%w (%w)", cause, err)
		}
		return nil, err
	}
	var trials []local.Trial
	if err := json.Unmarshal(out.Bytes(), &trials); err != nil {
		return nil, fmt.Errorf("try namespaces: %s local-init probe said %q: %w", self, out.String(), err)
	}
	return trials, nil
}
