package locks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"

	"github.com/dlmtest/dlmtest/locks/lockpb"
)

// OpenGRPC opens a session with a lock service that offers the gRPC side of the contract
// (lockpb/lock.proto) at each endpoint, a host:port.
func OpenGRPC(_ context.Context, c Config) (Client, error) {
	return newServiceLock("grpc", c, func() (remote, error) { return newGRPC(c) })
}

// grpcRemote has one connection for each endpoint, without TLS: which node is asked is
// decided here and not by a balancer.
type grpcRemote struct {
	conns  []*grpc.ClientConn
	bearer string
}

func newGRPC(c Config) (*grpcRemote, error) {
	r := &grpcRemote{bearer: c.Bearer}
	quick := grpc.ConnectParams{MinConnectTimeout: c.Lease / 4,
		Backoff: backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.5, MaxDelay: c.Lease / 4}}
	for _, e := range c.Endpoints {
		// No service config: a retry of gRPC's own would be a request that nobody timed.
		conn, err := grpc.NewClient("passthrough:///"+strings.TrimPrefix(e, "grpc://"), grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithConnectParams(quick), grpc.WithStatsHandler(sending{}), grpc.WithDisableServiceConfig(), grpc.WithDisableRetry(), grpc.WithNoProxy())
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%w: locks: grpc: endpoint %q: %w", ErrConfig, e, err), r.close())
		}
		r.conns = append(r.conns, conn)
	}
	return r, nil
}

// sending notes which calls have left: those that have not had no effect.
type sending struct{}

type leftKey struct{}

func (sending) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context   { return ctx }
func (sending) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (sending) HandleConn(context.Context, stats.ConnStats)                       {}
func (sending) HandleRPC(ctx context.Context, s stats.RPCStats) {
	if _, ok := s.(*stats.OutHeader); ok {
		if left, ok := ctx.Value(leftKey{}).(*atomic.Bool); ok {
			left.Store(true)
		}
	}
}

func (r *grpcRemote) to(ctx context.Context, at int) (context.Context, lockpb.LockServiceClient) {
	ctx = context.WithValue(ctx, leftKey{}, new(atomic.Bool))
	if r.bearer != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+r.bearer)
	}
	return ctx, lockpb.NewLockServiceClient(r.conns[at])
}

func (r *grpcRemote) acquire(ctx context.Context, at int, q serviceRequest) (serviceAnswer, error) {
	ctx, service := r.to(ctx, at)
	if q.block > 0 { // the call's deadline is all that says how long it may wait
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, q.block+grace)
		defer cancel()
	}
	a, err := service.RecordLock(ctx, &lockpb.RecordLockRequest{
		ResourcePath: q.key, ClientId: q.client, SessionTimeoutMs: q.lease.Milliseconds(), WaitBlocking: q.block > 0})
	if err != nil {
		return serviceAnswer{}, grpcMeans(ctx, err, true)
	}
	if !a.Acquired {
		return serviceAnswer{}, fmt.Errorf("%w: acquired is false", errDefinite)
	}
	return serviceAnswer{token: a.FencingToken, lease: time.Duration(a.SessionTimeoutMs) * time.Millisecond}, nil
}

func (r *grpcRemote) renew(ctx context.Context, at int, q serviceRequest) (serviceAnswer, error) {
	ctx, service := r.to(ctx, at)
	a, err := service.RenewLock(ctx, &lockpb.HeldLockRequest{ResourcePath: q.key, ClientId: q.client, FencingToken: q.token})
	if err != nil {
		return serviceAnswer{}, grpcMeans(ctx, err, false)
	}
	if !a.Acquired {
		return serviceAnswer{}, fmt.Errorf("%w: acquired is false", ErrNotHeld)
	}
	return serviceAnswer{token: a.FencingToken, lease: time.Duration(a.SessionTimeoutMs) * time.Millisecond}, nil
}

func (r *grpcRemote) release(ctx context.Context, at int, q serviceRequest) error {
	ctx, service := r.to(ctx, at)
	_, err := service.ReleaseLock(ctx, &lockpb.HeldLockRequest{ResourcePath: q.key, ClientId: q.client, FencingToken: q.token})
	return grpcMeans(ctx, err, false)
}

func (r *grpcRemote) info(ctx context.Context, at int, key string) (Holder, error) {
	ctx, service := r.to(ctx, at)
	i, err := service.GetLock(ctx, &lockpb.GetLockRequest{ResourcePath: key})
	if err = grpcMeans(ctx, err, false); errors.Is(err, ErrNotHeld) {
		return Holder{}, nil
	}
	if err != nil {
		return Holder{}, err
	}
	return Holder{Owner: i.ClientId, Left: time.Duration(i.LeaseLeftMs) * time.Millisecond}, nil
}

func (r *grpcRemote) close() error {
	var errs []error
	for _, c := range r.conns {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// grpcMeans is what an error proves. Unavailable, DeadlineExceeded, Canceled, Unknown and
// Internal are made by gRPC itself too, before or after the service has done it.
func grpcMeans(ctx context.Context, err error, acquires bool) error {
	if err == nil {
		return nil
	}
	s := status.Convert(err)
	text := s.Code().String() + ": " + s.Message()
	if left, ok := ctx.Value(leftKey{}).(*atomic.Bool); ok && !left.Load() {
		return fmt.Errorf("%w: it was not sent: %s", errBusy, text)
	}
	switch s.Code() {
	case codes.PermissionDenied, codes.NotFound:
		if !acquires {
			return fmt.Errorf("%w: %s", ErrNotHeld, text)
		}
	case codes.ResourceExhausted:
		return fmt.Errorf("%w: %s", errBusy, text)
	case codes.InvalidArgument, codes.Unauthenticated, codes.FailedPrecondition, codes.Unimplemented, codes.OutOfRange:
	case codes.Unavailable:
		for _, d := range s.Details() {
			if i, ok := d.(*errdetails.ErrorInfo); ok && i.Metadata["effect"] == "none" {
				return fmt.Errorf("%w: %s", errBusy, text)
			}
		}
		return errors.New(text)
	default:
		return errors.New(text)
	}
	return fmt.Errorf("%w: %w: %s", errDefinite, ErrConfig, text)
}
