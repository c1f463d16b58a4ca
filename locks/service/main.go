package service

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// BearerVariable names the environment variable that holds the bearer token: a flag
// would show it to everybody who lists processes.
const BearerVariable = "LOCKSERVICE_BEARER"

// Main runs a node of the service until it is told to end by SIGTERM or SIGINT, or with
// -check one lock operation against a node.
func Main(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("lockservice", flag.ContinueOnError)
	flags.SetOutput(out)
	etcd := flags.String("etcd", "127.0.0.1:2379", "`host:port` of etcd's members, with commas between")
	web := flags.String("http", ":8080", "`address` of the HTTP side")
	remote := flags.String("grpc", ":9090", "`address` of the gRPC side")
	waiters := flags.Int("waiters", 1000, "requests that may wait at this node at once; more are told 429")
	check := flags.String("check", "", "take and release a lock at the HTTP side of the node at `host:port`, and end")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("lockservice: unexpected %q; see lockservice -help", flags.Arg(0))
	}
	bearer := os.Getenv(BearerVariable)
	if *check != "" {
		return tryLock(ctx, *check, bearer)
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	s, err := New(Config{Etcd: strings.Split(*etcd, ","), Bearer: bearer, Waiters: *waiters})
	if err != nil {
		return err
	}
	w, err := net.Listen("tcp", *web)
	if err != nil {
		return fmt.Errorf("lockservice: -http: %w", err)
	}
	g, err := net.Listen("tcp", *remote)
	if err != nil {
		return fmt.Errorf("lockservice: -grpc: %w", err)
	}
	fmt.Fprintf(out, "lock service: HTTP at %v, gRPC at %v, etcd at %s\n", w.Addr(), g.Addr(), *etcd)
	return s.Serve(ctx, w, g)
}
