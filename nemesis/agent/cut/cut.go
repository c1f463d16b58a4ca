// Package cut parts a node from its peers, inside the node's own network
// namespace, by nftables over netlink: no program is needed in the image, only
// NET_ADMIN. Packets are dropped in the input hook of the receiver. A drop in the
// output hook would return EPERM to the sender, which no real partition does; a
// proxy would acknowledge what never arrives. So established connections stall
// and a SYN vanishes, and after the heal TCP goes on with its next
// retransmission, which it has backed off to at most the length of the cut.
//
// A cut at one end stops one direction of packets; both ends must apply it for a
// full partition. TCP needs both directions, so either is enough to stall it.
package cut

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"sync"

	"github.com/google/nftables"
)

// Options say what a cut drops.
type Options struct {
	ID    string   // names the cut in Counts and in the ruleset; not empty, not in use, no space, at most 64 bytes
	Ports []uint16 // only TCP packets from or to these ports; none: every packet, whatever its protocol
}

// ErrHost is returned in the network namespace that the machine booted with: a
// cut there would hit more than a node.
var ErrHost = errors.New("cut: this is the host's own network namespace, not a node's")

// one makes reading the ruleset and changing it a single step. The agent is the
// only writer of its table.
var one sync.Mutex

// Apply drops all packets that arrive from peers until heal is called. Cuts
// compose: a packet is dropped while any cut names its sender, and each cut
// counts it. Heal may be called again, and after Flush, without effect.
func Apply(peers []netip.Addr, o Options) (heal func() error, err error) {
	if err := o.check(peers); err != nil {
		return nil, err
	}
	one.Lock()
	defer one.Unlock()
	if err := notHost(); err != nil {
		return nil, err
	}
	c, err := nftables.New()
	if err != nil {
		return nil, fmt.Errorf("cut %s: netlink: %w", o.ID, err)
	}
	old, err := rules(c)
	if err != nil {
		return nil, fmt.Errorf("cut %s: %w", o.ID, err)
	}
	if slices.ContainsFunc(old, func(r rule) bool { return r.id == o.ID }) {
		return nil, fmt.Errorf("cut %s: a cut of this name is in force", o.ID)
	}
	t := prepare(c)
	for _, peer := range peers {
		t.add(c, peer.Unmap(), o)
	}
	if err := c.Flush(); err != nil { // one transaction: all of it or nothing
		return nil, fmt.Errorf("cut %s: %w (NET_ADMIN and nf_tables are needed)", o.ID, err)
	}
	return func() error { return remove(o.ID) }, nil
}

// check refuses what could not be a cut between two nodes.
func (o Options) check(peers []netip.Addr) error {
	if o.ID == "" || len(o.ID) > 64 || slices.Contains([]byte(o.ID), ' ') {
		return fmt.Errorf("cut: %q is not a name: 1 to 64 bytes without a space", o.ID)
	}
	if len(peers) == 0 {
		return fmt.Errorf("cut %s: no peers", o.ID)
	}
	for _, p := range peers {
		if !p.IsValid() || p.IsUnspecified() || p.IsMulticast() || p.IsLoopback() {
			return fmt.Errorf("cut %s: %v is not the address of a peer", o.ID, p)
		}
	}
	return nil
}

// notHost tells namespaces apart by a setting that only the first one has: the
// kernel registers net.core.netdev_budget for init_net alone.
func notHost() error {
	if _, err := os.Stat("/proc/sys/net/core/netdev_budget"); err == nil {
		return ErrHost
	}
	return nil
}

// remove deletes the rules of one cut.
func remove(id string) error {
	one.Lock()
	defer one.Unlock()
	c, err := nftables.New()
	if err != nil {
		return fmt.Errorf("heal of cut %s: netlink: %w", id, err)
	}
	all, err := rules(c)
	if err != nil {
		return fmt.Errorf("heal of cut %s: %w", id, err)
	}
	for _, r := range all {
		if r.id == id {
			if err := c.DelRule(r.Rule); err != nil {
				return fmt.Errorf("heal of cut %s: %w", id, err)
			}
		}
	}
	if err := c.Flush(); err != nil {
		return fmt.Errorf("heal of cut %s: %w", id, err)
	}
	return nil
}
