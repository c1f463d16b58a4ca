package cut

import (
	"fmt"
	"net/netip"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
)

// Count is what one cut has dropped of one peer. It is part of the proof, and
// says which direction was cut; a zero only says that the peer sent nothing.
type Count struct {
	ID      string     `json:"id"`
	Peer    netip.Addr `json:"peer"`
	Packets uint64     `json:"packets"`
	Bytes   uint64     `json:"bytes"`
}

// Counts returns what the cuts in force have dropped, in the order in which they
// were applied. Ask before the heal: it takes the counters with it.
func Counts() ([]Count, error) {
	one.Lock()
	defer one.Unlock()
	c, err := nftables.New()
	if err != nil {
		return nil, fmt.Errorf("counts of cuts: netlink: %w", err)
	}
	all, err := rules(c)
	if err != nil {
		return nil, fmt.Errorf("counts of cuts: %w", err)
	}
	var counts []Count
	for _, r := range all {
		counts, err = tally(counts, r)
		if err != nil {
			return nil, err
		}
	}
	return counts, nil
}

// tally adds what rule r has counted; a cut of ports has several rules a peer.
func tally(counts []Count, r rule) ([]Count, error) {
	peer, err := netip.ParseAddr(r.peer)
	if err != nil {
		return nil, fmt.Errorf("counts of cut %s: %w", r.id, err)
	}
	n := Count{ID: r.id, Peer: peer}
	for _, e := range r.Exprs {
		if counter, ok := e.(*expr.Counter); ok {
			n.Packets, n.Bytes = counter.Packets, counter.Bytes
		}
	}
	for i := range counts {
		if counts[i].ID == n.ID && counts[i].Peer == n.Peer {
			counts[i].Packets += n.Packets
			counts[i].Bytes += n.Bytes
			return counts, nil
		}
	}
	return append(counts, n), nil
}
