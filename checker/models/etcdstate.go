package models

import (
	"slices"
	"strings"
)

// etcdState is what etcd holds: a revision that each change raises by one, the keys with
// the revision of their last change, and leases, which end when they are revoked. That a
// lease ends by itself is not in it, as it is not in etcd's own model.
type etcdState struct {
	of                  *etcdStates
	revision, compacted int64
	kvs                 []etcdKV // by key
	leases              []int64  // in order
}

type etcdKV struct {
	EtcdKV
	lease int64
}

// etcdAnswer is what etcd answers, and what of it is not promised.
type etcdAnswer struct {
	EtcdResponse
	stale       bool // a read of an old revision, whose content is not known any more
	anyRevision bool // it is not ordered among the others
}

// apply is what a request does and how it is answered.
func (s *etcdState) apply(r *EtcdRequest) (etcdState, etcdAnswer) {
	next := *s
	var a etcdAnswer
	switch r.Type {
	case EtcdTypeRange:
		a = s.read(r.Range)
	case EtcdTypeTxn:
		next.kvs = slices.Clone(s.kvs)
		a.Txn = next.transact(r.Txn)
	case EtcdTypeGrant:
		if i, there := slices.BinarySearch(s.leases, r.LeaseGrant.LeaseID); !there && r.LeaseGrant.LeaseID != 0 {
			next.leases = slices.Insert(slices.Clone(s.leases), i, r.LeaseGrant.LeaseID)
		}
	case EtcdTypeRevoke:
		next.kvs, next.leases = slices.Clone(s.kvs), slices.Clone(s.leases)
		next.revoke(r.LeaseRevoke.LeaseID)
	case EtcdTypeDefrag:
		a.anyRevision = true
	case EtcdTypeComp:
		a.anyRevision = true
		switch at := r.Compact.Revision; {
		case at <= s.compacted:
			a.ClientError = compactedError
		case at > s.revision:
			a.ClientError = futureError
		default:
			next.compacted = at
		}
	default: // it is not known what that is
		a.ClientError = "an unknown request " + r.Type
	}
	a.Revision = next.revision
	return next, a
}

// What etcd's errors about revisions have in them.
const (
	compactedError = "compacted"
	futureError    = "future revision"
)

func (s *etcdState) read(r *EtcdRange) (a etcdAnswer) {
	switch {
	case r.Revision > s.revision:
		a.ClientError = futureError
	case r.Revision != 0 && r.Revision < s.compacted:
		a.ClientError = compactedError
	case r.Revision != 0 && r.Revision != s.revision:
		a.stale = true
	default:
		found := s.within(r)
		a.Range = &found
	}
	return a
}

func (s *etcdState) within(r *EtcdRange) (found EtcdResult) {
	for i := range s.kvs {
		kv := &s.kvs[i].EtcdKV
		if kv.Key == r.Start || r.End != "" && kv.Key > r.Start && (kv.Key < r.End || r.End == "\x00") {
			if found.Count++; r.Limit == 0 || found.Count <= r.Limit {
				found.KVs = append(found.KVs, *kv)
			}
		}
	}
	return found
}

func (s *etcdState) find(key string) (int, bool) {
	return slices.BinarySearchFunc(s.kvs, key, func(kv etcdKV, key string) int { return strings.Compare(kv.Key, key) })
}

// transact changes the state, whose keys are its own.
func (s *etcdState) transact(t *EtcdTxn) *EtcdTxnResult {
	result := &EtcdTxnResult{}
	for _, c := range t.Conditions {
		var kv etcdKV
		if i, there := s.find(c.Key); there {
			kv = s.kvs[i]
		}
		if c.ExpectedVersion > 0 && kv.Version != c.ExpectedVersion || c.ExpectedVersion == 0 && kv.ModRevision != c.ExpectedRevision {
			result.Failure = true
		}
	}
	ops := t.OperationsOnSuccess
	if result.Failure {
		ops = t.OperationsOnFailure
	}
	changed := false
	for i := range ops {
		var r EtcdResult
		switch op := &ops[i]; op.Type {
		case EtcdOpRange:
			r = s.within(&op.Range)
		case EtcdOpPut:
			changed = s.put(&op.Put) || changed
		case EtcdOpDelete:
			if i, there := s.find(op.Delete.Key); there {
				s.kvs = slices.Delete(s.kvs, i, i+1)
				r.Deleted, changed = 1, true
			}
		}
		result.Results = append(result.Results, r)
	}
	if changed {
		s.revision++
	}
	return result
}

func (s *etcdState) put(p *EtcdPut) bool {
	if _, granted := slices.BinarySearch(s.leases, p.LeaseID); !granted && p.LeaseID != 0 {
		return false
	}
	i, there := s.find(p.Key)
	if !there {
		s.kvs = slices.Insert(s.kvs, i, etcdKV{EtcdKV: EtcdKV{Key: p.Key}})
	}
	kv := &s.kvs[i]
	kv.Value, kv.ModRevision, kv.lease = p.Value.normal(), s.revision+1, p.LeaseID
	kv.Version++
	return true
}

func (s *etcdState) revoke(lease int64) {
	before := len(s.kvs)
	s.kvs = slices.DeleteFunc(s.kvs, func(kv etcdKV) bool { return kv.lease == lease && lease != 0 })
	s.leases = slices.DeleteFunc(s.leases, func(l int64) bool { return l == lease })
	if len(s.kvs) < before {
		s.revision++
	}
}
