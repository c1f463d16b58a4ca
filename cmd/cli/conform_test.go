package cli

import (
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/locks/protocol/conform"
	"github.com/dlmtest/dlmtest/workloads"
)

// What could not be asked is told, and does not fail an adapter; what was found does.
func TestConformTells(t *testing.T) {
	var b strings.Builder
	c := workloads.Conformed{Checks: 18, NotAsked: []conform.NotAsked{{Check: "cut", Why: "the endpoint /run/x is no host:port"}}}
	if err := (&conformFlags{}).tell(&b, "the adapter", c); err != nil {
		t.Error(err)
	}
	if want := "\ncut: not asked: the endpoint /run/x is no host:port\nthe adapter: 0 of 18 checks failed\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
	b.Reset()
	c.Findings = []conform.Finding{{Check: "heal", Problem: "it told resumed", Todo: "tell lost"}}
	if err := (&conformFlags{json: true}).tell(&b, "the adapter", c); err == nil || !strings.Contains(b.String(), `"not_asked":[{"check":"cut"`) {
		t.Errorf("%v %s", err, b.String())
	}
}
