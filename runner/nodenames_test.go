package runner

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/internal/settings"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/scenarios"
)

// A server that answers to the name of the guarded resource, or of a client, would be given the resource's key
// and stand between it and its clients: resolvers know no case.
func TestNoServerIsTakenForOurs(t *testing.T) {
	s, err := scenarios.Load("baseline")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"redis-1": "", "RESOURCE": "one name to a resolver", "Client-1": "one name to a resolver", "resource": "two nodes are called resource",
		"resource-1": "as a node of dlmtest's own", "client-77": "as a node of dlmtest's own", "resource.": "is no name of a node",
		"localhost": "it leads elsewhere", "LocalHost": "it leads elsewhere", "127.0.0.1": "it leads elsewhere",
	} {
		path := filepath.Join(t.TempDir(), "compose.yml")
		text := fmt.Sprintf("services:\n  %q:\n    image: dlmtest/redis\n    command: [redis-server]\n    profiles: [redis]\n", name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, allow := range []bool{false, true} {
			o := Options{Scenario: *s, Backend: "redis", Settings: settings.Settings{Compose: path, AllowHost: allow}}
			_, err := newPlan(t.Context(), o, locks.Table["redis"])
			if want == "" && err != nil || want != "" && (!errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s: %v; want %q", name, err, want)
			}
		}
	}
}
