package nemesis

import "github.com/dlmtest/dlmtest/nemesis/agent"

// needs is what a fault takes of the machine that may be missing there. The words are
// also those of dlmtest doctor. A fault that is not in it works wherever nodes do.
var needs = map[string]string{
	"partition":  agent.NeedNft,
	"clock":      agent.NeedTrace,
	"crash":      agent.NeedFuse,
	"disk-stall": agent.NeedFuse,
}

// Need says what a kind of fault takes of the machine; empty: nothing that may be missing.
func Need(kind string) string { return needs[kind] }
