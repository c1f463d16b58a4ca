package reports

import (
	"fmt"

	"github.com/dlmtest/dlmtest/history"
)

// ServerEnds says which servers ended by themselves under a fault, when and with which
// last words, a sentence each in the order of time. None of them was started again.
func ServerEnds(ops []history.Op) (all []string) {
	for i := range ops {
		if op := &ops[i]; op.Type == history.Note && op.F == history.ServerEnd {
			all = append(all, fmt.Sprintf("%s ended by itself at %.3f s and was not started again: %s", op.Node, float64(op.Time-ops[0].Time)/1e9, op.Error))
		}
	}
	return all
}
