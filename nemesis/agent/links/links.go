// Package links puts links between a lock client and its servers that can be
// slow, broken, or hold single messages back. It runs in the agent of the
// client's node: each client has links of its own, one per server.
//
// A link is a chain of Toxiproxy's toxics (github.com/Shopify/toxiproxy/v2) in
// each direction of each connection: latency, bandwidth, valve. Unlike in
// Toxiproxy's own server a chain is never rebuilt: its toxics are there from the
// start and idle, and a fault is a setting of theirs. So injecting and healing
// neither lose nor reorder a byte, and what is held is delivered by the heal.
// (Toxiproxy gives a removed toxic 5 s to write out what it has, and then drops it.)
//
// # Traps
//
// Use links only in a scenario with a link fault, because a proxy lies: it accepts
// a connection before its server does, so that one to a dead server is reset
// instead of refused; it acknowledges bytes for a stopped client and for a stopped
// server, so that up to a socket buffer more is under way; and it sets up
// connections at once, whatever the latency. A client that learns addresses from
// its server leaves its links (etcd's Sync), unless it knows the link to each (Redis
// Sentinel: locks.Config.Ways). TLS hides messages: only faults without a message's
// name work then.
package links

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/dlmtest/dlmtest/nemesis/agent/links/wire"
)

// Options of Open. The zero value listens on free ports and understands no protocol.
type Options struct {
	Listen   map[string]string        // name → host:port to listen on; else 127.0.0.1:0
	Protocol map[string]wire.Protocol // name → what is spoken there, for faults tied to messages
	Seed     uint64                   // of all jitter
	Room     int64                    // bytes that may be under way on all links, beyond which clients and servers wait; 0: 256 MB
	// Unparsed is told once for each direction of a link that its protocol is not
	// understood on a connection: that is passed on as it is, to its end. nil: nobody is.
	Unparsed func(Unparsed)
}

// Unparsed says where what is said was not understood.
type Unparsed struct {
	Link       string
	Direction  Direction
	Connection string // the client's address
	From       int64  // the byte of the stream at which the piece begins that was not understood
	Err        error
}

// String says it in words.
func (u Unparsed) String() string {
	return fmt.Sprintf("the %s on the link to %s is not understood from byte %d of connection %s on, and is passed on as it is; "+
		"a fault that waits for a message there cannot begin: %v",
		map[Direction]string{Request: "client", Answer: "server"}[u.Direction], u.Link, u.From, u.Connection, u.Err)
}

// Links are the links of one client, by the name of the server.
type Links struct {
	all map[string]*Link
}

// Open starts a link for each of upstreams, name → host:port. A name is resolved
// anew for each connection; that the server is up is not required.
func Open(upstreams map[string]string, o Options) (*Links, error) {
	ls, under := &Links{all: map[string]*Link{}}, newRoom(cmp.Or(o.Room, roomMax))
	for _, name := range slices.Sorted(maps.Keys(upstreams)) {
		if _, _, err := wire.New(o.Protocol[name]); err != nil {
			return nil, errors.Join(err, ls.Close())
		}
		l, err := listen(name, upstreams[name], under, o)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("link %s: %w", name, err), ls.Close())
		}
		ls.all[name] = l
	}
	return ls, nil
}

// Link returns the link to a server.
func (ls *Links) Link(name string) (*Link, error) {
	l, ok := ls.all[name]
	if !ok {
		return nil, fmt.Errorf("there is no link %q; there are %q", name, slices.Sorted(maps.Keys(ls.all)))
	}
	return l, nil
}

// Addr is the host:port at which the client reaches a server through its link;
// empty when there is no such link.
func (ls *Links) Addr(name string) string {
	if l := ls.all[name]; l != nil {
		return l.Addr()
	}
	return ""
}

// Close ends all connections and returns when nothing of the links runs any more.
func (ls *Links) Close() error {
	var errs []error
	for _, l := range ls.all {
		errs = append(errs, l.close())
	}
	return errors.Join(errs...)
}
