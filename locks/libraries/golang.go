package libraries

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/locks/libraries/pins"
	"github.com/dlmtest/dlmtest/locks/protocol"
	"github.com/dlmtest/dlmtest/locks/protocol/adapter"
)

// sources are the adapters of the Go libraries, which other versions are built with.
//
//go:embed */*.go
var sources embed.FS

// goLibrary is a library in Go: its adapter is compiled in, where it can be opened, and is
// built alone for any other version.
type goLibrary struct {
	Adapter adapter.Adapter
	Source  pins.Source
	On      []string          // backends, the default first
	Millis  bool              // leases are whole milliseconds; else as the backend has them
	Slow    bool              // see locks.Lock
	Left    map[string]string // see Library
	// Promise is what the adapter's hello cannot say: Bound, where it is not the backend's,
	// the drift, Mute, and the sentence for people.
	Promise history.Promise
}

func golang(g goLibrary) Library {
	l := Library{About: g.Promise.About, Module: g.Source.Module, Offers: g.Adapter.Offers, Left: g.Left, source: &g.Source}
	for _, backend := range g.On {
		lock := locks.Lock{Slow: g.Slow, Promise: g.Promise}
		if g.Adapter.Open != nil {
			lock.Open = protocol.Inside(g.Adapter)
		}
		if g.Millis {
			lock.CheckLease = wholeMillis
		}
		lock.Promise.Backend = backend
		l.On = append(l.On, promising(lock, l.Offers))
	}
	return l
}

// promising is a lock with the promise that an adapter's offers make.
func promising(lock locks.Lock, offers []string) locks.Lock {
	has := func(offer string) bool { return slices.Contains(offers, offer) }
	p := &lock.Promise
	p.NoLimit = !has(protocol.OfferWait)
	p.Leased, p.Token, p.Session = has(protocol.OfferLease), has(protocol.OfferToken), has(protocol.OfferEvents)
	p.Extends, p.Tries, p.Order = has(protocol.OfferExtend), has(protocol.OfferTry), has(protocol.OfferOrder)
	p.Shared, p.Permits, p.Reentry = has(protocol.OfferShared), has(protocol.OfferPermits), ""
	if has(protocol.OfferReentrant) {
		p.Reentry = history.ByThread
	}
	switch {
	case !p.Leased || has(protocol.OfferValidity) && has(protocol.OfferSent):
		p.Validity = history.Told
	case has(protocol.OfferValidity):
		p.Validity = history.Unproven
	case has(protocol.OfferSent):
		p.Validity = history.Reckoned
	default:
		p.Validity = history.Untold
	}
	lock.Renews = has(protocol.OfferRenews)
	p.Renews = lock.Renews
	return lock
}

// pin is a version of a Go library that is a program of its own. ok: there can be such.
func (l Library) pin(name, version string) (p pins.Pin, ok bool, err error) {
	if l.source == nil {
		return p, false, nil
	}
	p = pins.Pin{Source: *l.source, Library: name, Version: version, Sources: sources}
	return p, true, p.Source.At(name+"@"+version, version)
}

// pinned is the lock of a version that is a program of its own, in place of the one that
// is compiled in.
func (l Library) pinned(lock locks.Lock, p pins.Pin) locks.Lock {
	offers := slices.DeleteFunc(slices.Clone(l.Offers), func(o string) bool { return slices.Contains(p.Lacks(), o) })
	lock = promising(lock, offers)
	lock.Promise.Version = p.Version
	lock.Open = checked(process([]string{pins.Folder + "/adapter"}), p.Version, offers)
	return lock
}

// checked refuses an adapter that says of itself what the table does not.
func checked(open locks.Opener, version string, offers []string) locks.Opener {
	return func(ctx context.Context, c locks.Config) (locks.Client, error) {
		client, err := open(ctx, c)
		if err != nil {
			return nil, err
		}
		if err := saysSo(client.(protocol.Bare).Hello(), version, offers); err != nil {
			return nil, errors.Join(err, client.Close())
		}
		return client, nil
	}
}

// saysSo holds what an adapter says of itself against what the table says: one of the two
// would mislead the judge. version "": any.
func saysSo(hello protocol.Result, version string, offers []string) error {
	if version != "" && hello.Library != version {
		return fmt.Errorf("%w: the adapter is of %s %s, not %s", locks.ErrConfig, hello.Name, hello.Library, version)
	}
	says := slices.DeleteFunc(slices.Sorted(slices.Values(hello.Offers)), func(o string) bool { return o == protocol.OfferConcurrent })
	if want := slices.Sorted(slices.Values(offers)); !slices.Equal(says, want) {
		return fmt.Errorf("%w: %s %s offers %s, and the table of libraries says %s", locks.ErrConfig, hello.Name,
			hello.Library, strings.Join(says, ", "), strings.Join(want, ", "))
	}
	return nil
}

// process is the opener of a lock whose adapter is a process of its own. What it prints
// to stderr goes to ours: the log of the client's node.
func process(argv []string) locks.Opener {
	return func(ctx context.Context, c locks.Config) (locks.Client, error) {
		return protocol.Open(ctx, protocol.Command{Argv: argv, Log: os.Stderr}, c)
	}
}
