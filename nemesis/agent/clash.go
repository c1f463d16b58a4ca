package agent

import (
	"errors"

	"github.com/dlmtest/dlmtest/history"
)

// ErrRefused says that an agent did not begin a fault, since its node suffers
// another that is in the way. Nothing was done.
var ErrRefused = errors.New("refused")

// refusal is an ErrRefused with its reason.
type refusal string

func (r refusal) Error() string        { return string(r) }
func (r refusal) Is(target error) bool { return target == ErrRefused }

// Clash says whether two faults cannot be on one node together: the same kind
// twice, but for cuts, which compose. One that is optional, as those of a random
// schedule are, also gives way where one of the two would spoil the other's proof: a kill during a pause leaves nothing that could be seen
// stopped, and a stopped program cannot tell its time. Cuts are seen in the network alone. A
// scenario that writes both knows what it does.
func Clash(a, b string, optional bool) bool {
	return a == b && a != "partition" || optional && history.FaultOf(a).Proof && history.FaultOf(b).Proof
}
