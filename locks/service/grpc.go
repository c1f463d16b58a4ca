package service

import (
	"context"
	"errors"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/dlmtest/dlmtest/locks/lockpb"
)

// rpc is the gRPC side of a Server.
type rpc struct {
	lockpb.UnimplementedLockServiceServer
	*Server
}

// GRPC serves the gRPC side.
func (s *Server) GRPC() *grpc.Server {
	g := grpc.NewServer(grpc.MaxRecvMsgSize(bodyMax), grpc.ChainUnaryInterceptor(s.guard))
	lockpb.RegisterLockServiceServer(g, rpc{Server: s})
	return g
}

// guard checks the bearer token and gives errors their codes.
func (s *Server) guard(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	authorization := ""
	if md, ok := metadata.FromIncomingContext(ctx); ok && len(md.Get("authorization")) > 0 {
		authorization = md.Get("authorization")[0]
	}
	err := s.admits(authorization)
	if err == nil {
		var answer any
		if answer, err = handle(ctx, req); err == nil {
			return answer, nil
		}
	}
	if _, ok := status.FromError(err); ok {
		return nil, err // a method that does not exist
	}
	p := asProblem(err)
	st, detailed := status.New(p.code, p.message).WithDetails(
		&errdetails.ErrorInfo{Reason: p.name, Domain: "lockservice", Metadata: map[string]string{"effect": p.effect}})
	if detailed != nil {
		return nil, status.Error(p.code, p.message)
	}
	return nil, st.Err()
}

// spare is what a waiting call keeps of its time for the answer: after the deadline
// nobody would hear it.
func spare(left time.Duration) time.Duration { return min(left/4, time.Second) }

// RecordLock implements the contract. A call without a deadline waits BlockMax.
func (s rpc) RecordLock(ctx context.Context, r *lockpb.RecordLockRequest) (*lockpb.RecordLockResponse, error) {
	q := request{lock: r.ResourcePath, client: r.ClientId, lease: millis(r.SessionTimeoutMs)}
	if r.WaitBlocking {
		q.block = BlockMax
		if until, ok := ctx.Deadline(); ok {
			left := time.Until(until)
			q.block = min(max(left-spare(left), time.Millisecond), BlockMax)
		}
	}
	g, err := s.acquire(ctx, q)
	if p := (*problem)(nil); errors.As(err, &p) && p.kind == held {
		return &lockpb.RecordLockResponse{}, nil
	}
	return recorded(g), err
}

// RenewLock implements the contract.
func (s rpc) RenewLock(ctx context.Context, r *lockpb.HeldLockRequest) (*lockpb.RecordLockResponse, error) {
	g, err := s.renew(ctx, request{lock: r.ResourcePath, client: r.ClientId, token: r.FencingToken})
	return recorded(g), err
}

// ReleaseLock implements the contract.
func (s rpc) ReleaseLock(ctx context.Context, r *lockpb.HeldLockRequest) (*lockpb.ReleaseLockResponse, error) {
	return &lockpb.ReleaseLockResponse{}, s.release(ctx, request{lock: r.ResourcePath, client: r.ClientId, token: r.FencingToken})
}

// GetLock implements the contract.
func (s rpc) GetLock(ctx context.Context, r *lockpb.GetLockRequest) (*lockpb.LockInfo, error) {
	i, err := s.info(ctx, r.ResourcePath)
	return &lockpb.LockInfo{ResourcePath: r.ResourcePath, ClientId: i.client, FencingToken: i.token,
		HeldSince: i.since.UnixMilli(), LeaseExpiresAt: i.until.UnixMilli(), LeaseLeftMs: i.left.Milliseconds()}, err
}

func recorded(g grant) *lockpb.RecordLockResponse {
	return &lockpb.RecordLockResponse{Acquired: true, AcquiredZnodePath: g.path, FencingToken: g.token,
		LeaseExpiresAt: g.until.UnixMilli(), SessionTimeoutMs: g.lease.Milliseconds()}
}
