package pins

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/gobuild"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/locks/protocol"
)

// Folder is where a client node has the adapter of its pin.
const Folder = "/adapter"

// Build returns a folder of this machine with the pin's program, called adapter, and
// makes it if it is not there yet. ErrNoVersion: there is none to make it of.
func (p Pin) Build(ctx context.Context, progress func(line string)) (folder string, err error) {
	folder, err = gobuild.Build(ctx, p.Program(), progress)
	if err != nil {
		return "", p.explain(ctx, fmt.Errorf("--library %s@%s: %w", p.Library, p.Version, err))
	}
	return folder, nil
}

// Lock is the pin's lock on its backend, whose place it shares with the reference lock.
func (p Pin) Lock() locks.Lock {
	l := locks.Table[p.Promise.Backend]
	l.Open, l.Promise, l.Renews, l.Slow, l.Between = p.open, p.Promise, p.Renews, p.Slow, false
	return l
}

// open starts the adapter in a client node.
func (p Pin) open(ctx context.Context, c locks.Config) (locks.Client, error) {
	argv := []string{Folder + "/adapter"}
	client, err := protocol.Open(ctx, protocol.Command{Argv: argv, Log: os.Stderr}, c)
	if err != nil {
		return nil, err
	}
	return client, p.check(client)
}

// check holds what the adapter says of itself against what its table says: one of the
// two would mislead the judge.
func (p Pin) check(c locks.Client) error {
	hello := c.(protocol.Bare).Hello()
	if hello.Library != p.Version {
		return fmt.Errorf("%w: the adapter is of %s %s, not %s", locks.ErrConfig, hello.Name, hello.Library, p.Version)
	}
	for _, has := range []struct {
		offer   string
		promise bool
	}{
		{protocol.OfferValidity, p.Promise.Leased && p.Promise.Validity == history.Told}, {protocol.OfferToken, p.Promise.Token},
		{protocol.OfferLease, p.Promise.Leased}, {protocol.OfferEvents, p.Promise.Session}, {protocol.OfferExtend, p.Promise.Extends},
	} {
		if offers := slices.Contains(hello.Offers, has.offer); offers != has.promise {
			return fmt.Errorf("%w: %s %s offers %s: %v, and its promise says %v", locks.ErrConfig, hello.Name, hello.Library, has.offer, offers, has.promise)
		}
	}
	return nil
}
