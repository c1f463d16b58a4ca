package cut

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
)

// Grudge is a partition as data: nobody in From hears anybody in To, or the other
// way round, or both. The names are those of nodes.
type Grudge struct {
	From      []string  `json:"from" yaml:"from"`
	To        []string  `json:"to" yaml:"to"`
	Direction Direction `json:"direction,omitempty" yaml:"direction,omitempty"`
}

// Direction says which packets are lost, seen from Grudge.From.
type Direction string

// The directions. Empty means Both.
const (
	In   Direction = "in"   // what arrives at From from To
	Out  Direction = "out"  // what From sends to To: dropped where it arrives, so that From notices nothing
	Both Direction = "both" // both
)

// Drops says for every node whose packets it has to drop, sorted. A node drops
// nothing of its own, whatever the grudges say.
func Drops(grudges []Grudge) (map[string][]string, error) {
	deaf := map[string]map[string]bool{}
	drop := func(at, from string) {
		if at == from {
			return
		}
		if deaf[at] == nil {
			deaf[at] = map[string]bool{}
		}
		deaf[at][from] = true
	}
	for i, g := range grudges {
		switch g.Direction {
		case In, Out, Both, "":
		default:
			return nil, fmt.Errorf("grudge %d: direction %q is none of in, out, both", i+1, g.Direction)
		}
		for _, a := range g.From {
			for _, b := range g.To {
				if g.Direction != Out {
					drop(a, b)
				}
				if g.Direction != In {
					drop(b, a)
				}
			}
		}
	}
	sorted := map[string][]string{}
	for at, from := range deaf {
		sorted[at] = slices.Sorted(maps.Keys(from))
	}
	return sorted, nil
}

// Peers turns names into the addresses for Apply. A name without an address is an
// error: a cut that quietly misses a node is a lie.
func Peers(drops map[string][]string, addrs map[string][]netip.Addr) (map[string][]netip.Addr, error) {
	peers := map[string][]netip.Addr{}
	for at, from := range drops {
		if len(addrs[at]) == 0 {
			return nil, fmt.Errorf("grudge: no node is called %q, or it has no address", at)
		}
		for _, name := range from {
			if len(addrs[name]) == 0 {
				return nil, fmt.Errorf("grudge: no node is called %q, or it has no address", name)
			}
			peers[at] = append(peers[at], addrs[name]...)
		}
	}
	return peers, nil
}
