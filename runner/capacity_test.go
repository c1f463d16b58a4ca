package runner

import (
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/clusters"
)

// The server takes what is measured, and an empty one is as it always is.
func TestAdmit(t *testing.T) {
	command := []string{"postgres", "-c", "max_connections=200"}
	p := &plan{servers: []clusters.NodeSpec{{Command: command}}}
	if p.admit(200); len(p.servers[0].Command) != 3 {
		t.Errorf("a usual load: %q", p.servers[0].Command)
	}
	p.admit(640)
	if got := strings.Join(p.servers[0].Command, " "); got != "postgres -c max_connections=200 -c max_connections=640" || len(command) != 3 {
		t.Errorf("%q", got)
	}
}
