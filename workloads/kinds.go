package workloads

import (
	"context"

	"github.com/dlmtest/dlmtest/history"
)

// mode is what a worker runs, and the kind of lock that it needs for that.
type mode struct {
	run  func(context.Context, *link, Spec) error
	kind history.Kind
}

// modes is the table of all of them.
var modes map[Mode]mode

func init() { // a variable would refer to itself: finally asks the table
	modes = map[Mode]mode{
		Guarded:   {loop((*client).round), history.Mutex},
		Finally:   {finally, history.Mutex},
		Conform:   {conform, history.Mutex},
		Tries:     {loop((*client).tryRound), history.Tried},
		Nested:    {nested, history.Reentrant},
		ReadWrite: {loop((*client).readWriteRound), history.ReadWrite},
		Permits:   {loop((*client).permitRound), history.Semaphore},
		Leader:    {loop((*client).term), history.Leader},
		Watchdog:  {loop((*client).watched), history.Watchdog},
		Herd:      {herd, history.Herd},
		OwnKey:    {loop((*client).aloneRound), history.Alone},
		Capacity:  {capacity, history.Mutex},
	}
	for use, round := range rounds {
		modes[use] = mode{loop(round), history.Mutex}
	}
}

// Kind is the kind of lock that a mode needs; known is false of no mode.
func Kind(m Mode) (k history.Kind, known bool) {
	entry, known := modes[m]
	return entry.kind, known
}

// aloneRound is the guarded write by a key of the client's own: nobody else asks for
// it, so whatever keeps the client from it is the lock itself.
func (c *client) aloneRound(ctx context.Context) {
	c.locked(ctx, c.spec.Keys[c.spec.Number%len(c.spec.Keys)], c.hold)
}
