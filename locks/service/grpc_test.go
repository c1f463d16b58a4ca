package service_test

import (
	"context"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/dlmtest/dlmtest/locks/lockpb"
	"github.com/dlmtest/dlmtest/locks/service"
	"github.com/dlmtest/dlmtest/locks/service/servicetest"
)

func dial(t *testing.T, n *servicetest.Node) lockpb.LockServiceClient {
	t.Helper()
	conn, err := grpc.NewClient(n.GRPC, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return lockpb.NewLockServiceClient(conn)
}

func record(client string, lease time.Duration) *lockpb.RecordLockRequest {
	return &lockpb.RecordLockRequest{ResourcePath: "k", ClientId: client, SessionTimeoutMs: lease.Milliseconds()}
}

// refused wants a code, and that the refusal says it had no effect.
func refused(t *testing.T, err error, want codes.Code) {
	t.Helper()
	s := status.Convert(err)
	effect := ""
	for _, d := range s.Details() {
		if i, ok := d.(*errdetails.ErrorInfo); ok {
			effect = i.Metadata["effect"]
		}
	}
	if s.Code() != want || effect != "none" {
		t.Errorf("%v with effect %q, want %v without", err, effect, want)
	}
}

func TestGRPC(t *testing.T) {
	t.Parallel()
	etcd := servicetest.Etcd(t)
	s := dial(t, servicetest.Start(t, service.Config{Etcd: []string{etcd}}))
	ctx := t.Context()
	g, err := s.RecordLock(ctx, record("one", 2*time.Second))
	if err != nil || !g.Acquired || g.FencingToken <= 0 || g.AcquiredZnodePath != "lockservice/k/one" || g.SessionTimeoutMs != 2000 || g.LeaseExpiresAt == 0 {
		t.Fatalf("%v, %v", g, err)
	}
	if other, err := s.RecordLock(ctx, record("two", 2*time.Second)); err != nil || other.Acquired {
		t.Errorf("to be refused is no error: %v, %v", other, err)
	}
	wait := record("two", 2*time.Second)
	wait.WaitBlocking = true
	short, cancel := context.WithTimeout(ctx, time.Second)
	if other, err := s.RecordLock(short, wait); err != nil || other.Acquired {
		t.Errorf("a wait ends before its deadline, with an answer: %v, %v", other, err)
	}
	cancel()
	if i, err := s.GetLock(ctx, &lockpb.GetLockRequest{ResourcePath: "k"}); err != nil || i.ClientId != "one" || i.FencingToken != g.FencingToken {
		t.Errorf("%v, %v", i, err)
	}
	held := func(client string, token int64) *lockpb.HeldLockRequest {
		return &lockpb.HeldLockRequest{ResourcePath: "k", ClientId: client, FencingToken: token}
	}
	if again, err := s.RenewLock(ctx, held("one", g.FencingToken)); err != nil || again.FencingToken != g.FencingToken {
		t.Errorf("%v, %v", again, err)
	}
	_, err = s.RenewLock(ctx, held("two", g.FencingToken))
	refused(t, err, codes.PermissionDenied)
	_, err = s.ReleaseLock(ctx, held("one", g.FencingToken+1))
	refused(t, err, codes.PermissionDenied)
	_, err = s.RecordLock(ctx, record("two", time.Millisecond))
	refused(t, err, codes.FailedPrecondition)
	_, err = s.RecordLock(ctx, record("", 2*time.Second))
	refused(t, err, codes.InvalidArgument)
	if _, err := s.ReleaseLock(ctx, held("one", g.FencingToken)); err != nil {
		t.Error(err)
	}
	_, err = s.ReleaseLock(ctx, held("one", g.FencingToken))
	refused(t, err, codes.NotFound)
	_, err = s.GetLock(ctx, &lockpb.GetLockRequest{ResourcePath: "k"})
	refused(t, err, codes.NotFound)

	guarded := dial(t, servicetest.Start(t, service.Config{Etcd: []string{etcd}, Bearer: "secret"}))
	_, err = guarded.GetLock(ctx, &lockpb.GetLockRequest{ResourcePath: "k"})
	refused(t, err, codes.Unauthenticated)
	_, err = guarded.GetLock(metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer secret"), &lockpb.GetLockRequest{ResourcePath: "k"})
	refused(t, err, codes.NotFound)

	dead := servicetest.Listen(t)
	defer dead.Close()
	lost := dial(t, servicetest.Start(t, service.Config{Etcd: []string{dead.Addr().String()}, Limit: 300 * time.Millisecond}))
	_, err = lost.RecordLock(ctx, record("one", 2*time.Second))
	refused(t, err, codes.Unavailable)
}
