package agent

import (
	"testing"

	"github.com/dlmtest/dlmtest/history"
)

// The agent can inject each kind of fault that there is, and nothing else but a hold.
func TestInjectsEveryKind(t *testing.T) {
	for _, k := range history.FaultKinds {
		if _, err := kindOf(Arm{Kind: k.Name}); err != nil {
			t.Error(err)
		}
		if (onLink[k.Name] != nil) != k.Link {
			t.Errorf("%s: on links %v, and its row says %v", k.Name, onLink[k.Name] != nil, k.Link)
		}
	}
	if n := len(kinds) - 1 + len(onLink); n != len(history.FaultKinds) || kinds[Hold] == nil {
		t.Errorf("agents inject %d kinds of %d", n, len(history.FaultKinds))
	}
	if _, err := kindOf(Arm{Kind: "flood"}); err == nil {
		t.Error("what is no kind is injected")
	}
}
