package libraries

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/dlmtest/dlmtest/examples/adapters"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/locks/protocol"
)

// process is the opener of a lock whose adapter is a process of its own. What it prints
// to stderr goes to ours: the log of the client's node.
func process(argv []string) locks.Opener {
	return func(ctx context.Context, c locks.Config) (locks.Client, error) {
		return protocol.Open(ctx, protocol.Command{Argv: argv, Log: os.Stderr}, c)
	}
}

// script is process for one of examples/adapters, which is written out while it starts:
// the client's node has this program and no files of the repository.
func script(file string, program []string, args ...string) locks.Opener {
	return func(ctx context.Context, c locks.Config) (_ locks.Client, err error) {
		dir, err := os.MkdirTemp("", "dlmtest-adapter-*")
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()                              // by its hello it has been read
		if err := errors.Join(os.Chmod(dir, 0o755), os.CopyFS(dir, adapters.Files)); err != nil { // the adapter is another user
			return nil, err
		}
		return process(slices.Concat(program, []string{filepath.Join(dir, file)}, args))(ctx, c)
	}
}

// Adapter is the lock behind a user's own adapter, with the servers of a backend. What
// it promises is not known before its hello: see Told. Until then it promises all.
func Adapter(backend string, argv []string) (locks.Lock, error) {
	lock, err := Find(backend, "")
	if err != nil {
		return lock, err
	}
	lock.Open, lock.CheckLease, lock.Renews, lock.Between, lock.Broken = process(argv), nil, false, false, nil
	lock.Promise = history.Promise{Backend: backend, Library: "adapter", Bound: lock.Promise.Bound,
		Leased: true, Token: true, Session: true, Extends: true, Tries: true, Order: true, Shared: true, Permits: true, About: fmt.Sprintf("the adapter %q", argv)}
	return lock, nil
}

// Told is a lock with what its adapter has said of itself.
func Told(lock locks.Lock, h protocol.Result) locks.Lock {
	offers := map[string]bool{}
	for _, o := range h.Offers {
		offers[o] = true
	}
	p := &lock.Promise
	p.Library, p.Version, p.NoLimit = h.Name, h.Library, !offers[protocol.OfferWait]
	p.Leased, p.Token, p.Session = offers[protocol.OfferLease], offers[protocol.OfferToken], offers[protocol.OfferEvents]
	p.Extends, p.Tries, p.Order = offers[protocol.OfferExtend], offers[protocol.OfferTry], offers[protocol.OfferOrder]
	p.Shared, p.Permits = offers[protocol.OfferShared], offers[protocol.OfferPermits]
	switch {
	case !p.Leased || offers[protocol.OfferValidity]:
		p.Validity = history.Told
	case offers[protocol.OfferSent]:
		p.Validity = history.Reckoned
	default:
		p.Validity = history.Untold
	}
	p.About = fmt.Sprintf("%s %s behind the lock client protocol", h.Name, h.Library)
	lock.Renews = offers[protocol.OfferRenews]
	return lock
}
