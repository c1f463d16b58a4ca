package agent

import (
	"strings"
	"testing"
)

// A program that prints without end, or much, takes no memory of the agent, and ends as it would.
func TestOutputIsBounded(t *testing.T) {
	text, err := output(Child{Argv: []string{"sh", "-c", "echo first; head -c 10000000 /dev/zero; exit 0"}})
	if err != nil || len(text) != beginSize || !strings.HasPrefix(text, "first\n") {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}
