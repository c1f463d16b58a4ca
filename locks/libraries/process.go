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
	"github.com/dlmtest/dlmtest/locks/libraries/pins"
	"github.com/dlmtest/dlmtest/locks/protocol"
)

// script is process for one of examples/adapters, which is written out while it starts:
// the client's node has this program and no files of the repository.
func script(file string, program []string, args ...string) locks.Opener {
	return func(ctx context.Context, c locks.Config) (_ locks.Client, err error) {
		if argv, ok := compiled(pins.Folder, file); ok {
			return process(append(argv, args...))(ctx, c)
		}
		dir, err := laidOut()
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }() // by its hello it has been read
		if err != nil {
			return nil, err
		}
		return process(slices.Concat(program, []string{filepath.Join(dir, file)}, args))(ctx, c)
	}
}

// laidOut is a folder with examples/adapters.
func laidOut() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "dlmtest-adapter-*"); err != nil {
		return "", err
	}
	return dir, errors.Join(os.Chmod(dir, 0o755), os.CopyFS(dir, adapters.Files)) // the adapter is another user
}

// Adapter is the lock behind a user's own adapter, with the servers of a backend. What
// it promises is not known before its hello: see Told. Until then it promises all.
func Adapter(backend string, argv []string) (locks.Lock, error) {
	lock, err := Find(backend, "")
	if err != nil {
		return lock, err
	}
	lock.Open, lock.CheckLease, lock.Renews, lock.Between, lock.Broken = process(argv), nil, false, false, nil
	lock.Promise = history.Promise{Backend: backend, Library: "adapter", Bound: lock.Promise.Bound, Survives: lock.Promise.Survives,
		Leased: true, Token: true, Session: true, Extends: true, Tries: true, Order: true, Shared: true, Permits: true,
		Reentry: history.ByThread, About: fmt.Sprintf("the adapter %q", argv)}
	return lock, nil
}

// Told is a lock with what its adapter has said of itself.
func Told(lock locks.Lock, h protocol.Result) locks.Lock {
	lock = promising(lock, h.Offers)
	p := &lock.Promise
	p.Library, p.Version = h.Name, h.Library
	p.About = fmt.Sprintf("%s %s behind the lock client protocol", h.Name, h.Library)
	return lock
}
