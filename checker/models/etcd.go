package models

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/history"
)

// Etcd is the name of the model of etcd's keys with their revisions, as its robustness
// tests see it.
const Etcd = "etcd"

// Request is one request to etcd: of its event Old is an EtcdRequest and Value what came
// back, an EtcdResponse, both as JSON. It is of Etcd alone.
const Request F = "request"

// EtcdRequest is a request as etcd's robustness tests write it.
type EtcdRequest struct {
	Type        string
	LeaseGrant  *EtcdLease   `json:",omitempty"`
	LeaseRevoke *EtcdLease   `json:",omitempty"`
	Range       *EtcdRange   `json:",omitempty"`
	Txn         *EtcdTxn     `json:",omitempty"`
	Defragment  *struct{}    `json:",omitempty"`
	Compact     *EtcdCompact `json:",omitempty"`
}

// The parts of a request.
type (
	EtcdLease   struct{ LeaseID int64 }
	EtcdCompact struct{ Revision int64 }
	EtcdRange   struct {
		Start, End string // no End: one key
		Limit      int64
		Revision   int64 `json:",omitempty"` // 0: the newest
	}
	EtcdTxn struct {
		Conditions                               []EtcdCondition
		OperationsOnSuccess, OperationsOnFailure []EtcdOperation
	}
	EtcdCondition struct {
		Key              string
		ExpectedRevision int64
		ExpectedVersion  int64 `json:",omitempty"` // 0: the revision counts
	}
	EtcdOperation struct {
		Type   string
		Range  EtcdRange
		Put    EtcdPut
		Delete struct{ Key string }
	}
	EtcdPut struct {
		Key     string
		Value   EtcdValue
		LeaseID int64
	}
	// EtcdValue is a value, or the hash of one that is long.
	EtcdValue struct {
		Value string `json:",omitempty"`
		Hash  uint32 `json:",omitempty"`
	}
)

// EtcdResponse is what came back. With Persisted or PartialResponse only the revision is
// known, if that, and with Error nothing.
type EtcdResponse struct {
	Revision          int64
	Txn               *EtcdTxnResult `json:",omitempty"`
	Range             *EtcdResult    `json:",omitempty"`
	LeaseGrant        *EtcdLease     `json:",omitempty"`
	LeaseRevoke       *struct{}      `json:",omitempty"`
	Defragment        *struct{}      `json:",omitempty"`
	Compact           *struct{}      `json:",omitempty"`
	ClientError       string         `json:",omitempty"`
	PartialResponse   bool           `json:",omitempty"`
	Persisted         bool           `json:",omitempty"`
	PersistedRevision int64          `json:",omitempty"`
	Error             string         `json:",omitempty"`
}

// The parts of a response.
type (
	EtcdTxnResult struct {
		Failure bool
		Results []EtcdResult
	}
	EtcdResult struct {
		KVs     []EtcdKV
		Count   int64
		Deleted int64 `json:",omitempty"`
	}
	EtcdKV struct {
		Key         string
		Value       EtcdValue
		ModRevision int64
		Version     int64 `json:",omitempty"` // 0: older files do not tell it
	}
)

// Types of requests and of the operations of a transaction.
const (
	EtcdTypeRange  = "range"
	EtcdTypeTxn    = "txn"
	EtcdTypeGrant  = "leaseGrant"
	EtcdTypeRevoke = "leaseRevoke"
	EtcdTypeDefrag = "defragment"
	EtcdTypeComp   = "compact"
	EtcdOpRange    = "range-operation"
	EtcdOpPut      = "put-operation"
	EtcdOpDelete   = "delete-operation"
)

// Check says what of a request is missing or not known.
func (r *EtcdRequest) Check() error {
	has := map[string]bool{EtcdTypeRange: r.Range != nil, EtcdTypeTxn: r.Txn != nil, EtcdTypeGrant: r.LeaseGrant != nil,
		EtcdTypeRevoke: r.LeaseRevoke != nil, EtcdTypeDefrag: true, EtcdTypeComp: r.Compact != nil}
	if there, known := has[r.Type]; !known {
		return fmt.Errorf("a request of type %q, which is not known", r.Type)
	} else if !there {
		return fmt.Errorf("a request of type %q without what it asks for", r.Type)
	}
	if r.Txn == nil {
		return nil
	}
	for _, op := range slices.Concat(r.Txn.OperationsOnSuccess, r.Txn.OperationsOnFailure) {
		if op.Type != EtcdOpRange && op.Type != EtcdOpPut && op.Type != EtcdOpDelete {
			return fmt.Errorf("an operation of type %q in a transaction, which is not known", op.Type)
		}
	}
	return nil
}

// Changes says that a request may raise the revision.
func (r *EtcdRequest) Changes() bool {
	if r.Txn == nil {
		return r.Type == EtcdTypeRevoke
	}
	return slices.ContainsFunc(slices.Concat(r.Txn.OperationsOnSuccess, r.Txn.OperationsOnFailure), func(op EtcdOperation) bool {
		return op.Type != EtcdOpRange
	})
}

// normal is a value as responses tell it: the hash of a long one.
func (v EtcdValue) normal() EtcdValue {
	if len(v.Value) < 20 {
		return v
	}
	h := fnv.New32a()
	h.Write([]byte(v.Value))
	return EtcdValue{Hash: h.Sum32()}
}

// etcdStates keeps one state of each kind, so that they are compared as pointers, and
// what each operation asks for.
type etcdStates struct {
	known map[string]*etcdState
	calls map[*Op]*etcdCall
}

type etcdCall struct {
	ask  EtcdRequest
	said EtcdResponse
}

func (s *etcdStates) call(op *Op) *etcdCall {
	c := s.calls[op]
	if c == nil {
		c = &etcdCall{}
		if err := json.Unmarshal([]byte(op.Old), &c.ask); err != nil {
			c.ask.Type = err.Error() // explains nothing
		}
		if op.Type == history.OK && json.Unmarshal([]byte(op.Value), &c.said) != nil {
			c.ask.Type = "a response that is no JSON"
		}
		s.calls[op] = c
	}
	return c
}

func newEtcd(Options) any {
	of := &etcdStates{known: map[string]*etcdState{}, calls: map[*Op]*etcdCall{}}
	return of.one(etcdState{of: of, revision: 1})
}

// one is the state of all that are like it.
func (s *etcdStates) one(state etcdState) *etcdState {
	var name strings.Builder
	fmt.Fprintf(&name, "%d %d %v", state.revision, state.compacted, state.leases)
	for _, kv := range state.kvs {
		fmt.Fprintf(&name, " %q %q %d %d %d %d", kv.Key, kv.Value.Value, kv.Value.Hash, kv.ModRevision, kv.Version, kv.lease)
	}
	if known := s.known[name.String()]; known != nil {
		return known
	}
	s.known[name.String()] = &state
	return &state
}

func etcdStep(_ Options, state any, op *Op) (any, bool) {
	s := state.(*etcdState)
	c := s.of.call(op)
	if told := c.said.Revision; op.Type == history.OK && told > 0 && told != s.revision && told != s.revision+1 &&
		c.ask.Type != EtcdTypeDefrag && c.ask.Type != EtcdTypeComp {
		return s, false // no request does that: the search is far shorter for it
	}
	next, answer := s.apply(&c.ask)
	return s.of.one(next), op.Type != history.OK || answer.is(&c.said)
}

// is says that what came back may be this answer.
func (a *etcdAnswer) is(said *EtcdResponse) bool {
	if said.Persisted || said.PartialResponse {
		told := max(said.Revision, said.PersistedRevision)
		return told == 0 || told == a.Revision
	}
	if a.ClientError != "" || said.ClientError != "" {
		return a.ClientError != "" && strings.Contains(said.ClientError, a.ClientError)
	}
	if !a.anyRevision && said.Revision != -1 && said.Revision != a.Revision {
		return false
	}
	if a.stale {
		return said.Range != nil
	}
	switch {
	case (a.Txn == nil) != (said.Txn == nil), (a.Range == nil) != (said.Range == nil):
		return false
	case a.Range != nil:
		return a.Range.is(said.Range)
	case a.Txn != nil:
		return a.Txn.Failure == said.Txn.Failure && slices.EqualFunc(a.Txn.Results, said.Txn.Results, func(x, y EtcdResult) bool { return x.is(&y) })
	}
	return true
}

func (r *EtcdResult) is(said *EtcdResult) bool {
	return r.Count == said.Count && r.Deleted == said.Deleted && slices.EqualFunc(r.KVs, said.KVs, func(x, y EtcdKV) bool {
		return x.Key == y.Key && x.Value == y.Value.normal() && x.ModRevision == y.ModRevision && (y.Version == 0 || x.Version == y.Version)
	})
}
