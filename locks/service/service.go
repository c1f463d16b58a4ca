// Package service is a small lock service on etcd, reached by HTTP and by gRPC. It is
// the reference for the contract that the backends http and grpc of dlmtest test; how
// to test a service of your own is told in docs/lock-service.md.
//
// All state lies in etcd: a node of the service can be killed, and any other goes on
// with what it has granted. A grant is a key of etcd under a lease of its own:
//
//	lockservice/<lock>/<client> → {request, granted, since}
//
// The client whose key has the lowest create revision holds the lock, once granted is
// set; the others wait for it in that order. The create revision is the fencing token.
package service

import (
	"context"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
)

// Config is how a node of the service is set up. The zero value of each limit stands for its default.
type Config struct {
	Etcd    []string      // host:port of the members
	Bearer  string        // that every request must carry; empty: everybody is served
	Waiters int           // requests that may wait at this node at once; 0: 1000
	Limit   time.Duration // for what etcd is asked on behalf of one request, beyond its wait; 0: 3 s
}

// Bounds of what can be asked for. etcd counts leases in whole seconds, and its
// default configuration grants none below two.
const (
	LeaseMin = 2 * time.Second
	LeaseMax = time.Hour
	BlockMax = time.Minute
	nameMax  = 512 // bytes of a lock's or a client's name
)

// Server is one node of the service, behind both of its APIs.
type Server struct {
	config  Config
	db      *clientv3.Client
	waiting chan struct{}   // one token for each request that waits
	life    context.Context // ends with Shutdown: who waits is sent away
	end     context.CancelFunc
}

// New makes a node. It does not ask whether etcd answers: it may come later.
func New(c Config) (*Server, error) {
	if c.Waiters == 0 {
		c.Waiters = 1000
	}
	if c.Limit == 0 {
		c.Limit = 3 * time.Second
	}
	db, err := clientv3.New(clientv3.Config{
		Endpoints: c.Etcd, Logger: zap.NewNop(),
		// A member that is stopped or cut off is noticed by pings, and the next is asked.
		DialKeepAliveTime: time.Second, DialKeepAliveTimeout: time.Second,
		DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(askAnother)},
	})
	if err != nil {
		return nil, fmt.Errorf("lock service: etcd at %v: %w", c.Etcd, err)
	}
	s := &Server{config: c, db: db, waiting: make(chan struct{}, c.Waiters)}
	s.life, s.end = context.WithCancel(context.Background())
	return s, nil
}

// Close sends away who still waits and ends the session with etcd. What was granted stays.
func (s *Server) Close() error {
	s.end()
	return s.db.Close()
}

// request is what one of the APIs was asked.
type request struct {
	lock, client string
	lease        time.Duration
	block        time.Duration // how long it may wait; 0: not at all
	token        int64
}

// grant is what a client is told.
type grant struct {
	path  string // of the key in etcd
	token int64
	lease time.Duration
	until time.Time // by this node's clock; at least so long, when the clocks agree
}

// named refuses names that cannot be.
func (q request) named() error {
	switch {
	case q.lock == "" || q.client == "":
		return problemf(malformed, "the names of the lock and of the client must not be empty")
	case len(q.lock) > nameMax || len(q.client) > nameMax:
		return problemf(malformed, "a name is longer than %d bytes", nameMax)
	}
	return nil
}

// check refuses what this service cannot do, before etcd is asked.
func (q request) check() error {
	if err := q.named(); err != nil {
		return err
	}
	switch {
	case q.lease%time.Second != 0 || q.lease < LeaseMin || q.lease > LeaseMax:
		return problemf(unsupported, "a lease of %v: etcd counts whole seconds; ask for %v to %v", q.lease, LeaseMin, LeaseMax)
	case q.block < 0 || q.block > BlockMax:
		return problemf(unsupported, "to wait for %v: ask for 0s to %v, and again after that", q.block, BlockMax)
	}
	return nil
}
