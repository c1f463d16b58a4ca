// Command lockservice is a lock service on etcd, by HTTP and by gRPC: the reference for the
// backends http and grpc of dlmtest. README.md beside this file shows how to run it, and
// how to test a service of your own in its place.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/dlmtest/dlmtest/locks/service"
)

func main() {
	if err := service.Main(context.Background(), os.Args[1:], os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
