package etcd

import (
	"context"
	"errors"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/dlmtest/dlmtest/locks/protocol/adapter"
)

// renewing is a server that renews a lease for as long as it is asked to.
type renewing struct{ clientv3.Lease }

func (renewing) KeepAlive(ctx context.Context, _ clientv3.LeaseID) (<-chan *clientv3.LeaseKeepAliveResponse, error) {
	answers := make(chan *clientv3.LeaseKeepAliveResponse)
	context.AfterFunc(ctx, func() { close(answers) })
	return answers, nil
}

// TestUnansweredUnlockIsNotRenewed: the key of an Unlock without an answer may stand. Were its
// session kept alive, nobody else would ever be granted what its holder has given back.
func TestUnansweredUnlockIsNotRenewed(t *testing.T) {
	db := clientv3.NewCtxClient(t.Context())
	db.Lease = renewing{}
	session, err := concurrency.NewSession(db, concurrency.WithLease(1))
	if err != nil {
		t.Fatal(err)
	}
	unanswered := errors.New("connection lost")
	g := &adapter.Grant{State: &rwHeld{session: session, unlock: func() error { return unanswered }}}
	err = (&rwMutexes{}).Release(t.Context(), g)
	if !errors.Is(err, unanswered) || errors.Is(err, adapter.ErrNotHeld) {
		t.Errorf("the release says %v", err)
	}
	if alive(session) {
		t.Error("the session of a lock that was given back is renewed still")
	}
}
