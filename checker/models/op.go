package models

import (
	"fmt"

	"github.com/dlmtest/dlmtest/history"
)

// Op is one whole operation, as the oracle wants it. Its call and return are
// indexes of events, so that no two are the same.
type Op struct {
	F       F            `json:"f"`
	Type    history.Type `json:"type"` // OK, Fail or Info
	Process int          `json:"process"`
	Owner   string       `json:"owner"`
	Implied bool         `json:"implied,omitempty"` // nothing tells the owner: it is the process's last
	Call    int          `json:"call"`
	Return  int          `json:"return"`
	Called  int64        `json:"called,omitempty"`   // time of the call
	Done    int64        `json:"returned,omitempty"` // time of the return
	Token   int64        `json:"token,omitempty"`
	Lease   int64        `json:"lease,omitempty"`
	Value   string       `json:"value,omitempty"`
	Old     string       `json:"old,omitempty"`
	Refused bool         `json:"refused,omitempty"`
}

// Anybody is the owner of an acquire that nobody knows the outcome of, where the answer
// alone would have told the owner: any owner that is named may be the one.
const Anybody = "?"

func opOf(op *operation) Op {
	o := Op{F: op.F, Type: op.Type, Process: op.Process, Owner: op.Owner, Implied: op.Implied, Call: op.call.Index, Return: op.ret.Index,
		Called: op.call.Time, Done: op.ret.Time, Token: op.Token, Lease: op.Lease, Value: op.Value, Old: op.Old, Refused: op.Refused}
	if op.owner != nil {
		o.Owner = op.owner.name
	}
	if o.Owner == "" {
		o.Owner = fmt.Sprintf("process %d", op.Process)
	}
	return o
}
