package service

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"google.golang.org/grpc"
)

// drain is how long a node that goes down waits for its last answers.
const drain = 5 * time.Second

// Serve answers at both listeners until ctx ends. Then nothing new is taken, who waits
// is sent away with a definite answer, and what is under way is finished.
func (s *Server) Serve(ctx context.Context, web, remote net.Listener) error {
	h := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second}
	g := s.GRPC()
	failed := make(chan error, 2)
	go func() { failed <- h.Serve(web) }()
	go func() { failed <- g.Serve(remote) }()
	var err error
	select {
	case err = <-failed:
		err = fmt.Errorf("lock service: %w", err)
	case <-ctx.Done():
	}
	s.end()
	return errors.Join(err, stop(h, g), s.Close())
}

func stop(h *http.Server, g *grpc.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), drain)
	defer cancel()
	defer context.AfterFunc(ctx, g.Stop)()
	err := h.Shutdown(ctx)
	g.GracefulStop()
	return err
}
