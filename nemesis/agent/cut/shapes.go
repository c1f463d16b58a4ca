package cut

import (
	"math/rand/v2"
	"slices"
)

// The shapes of partitions that are known to break systems (Jepsen's
// nemesis.clj has most of them). Every choice comes from r, so that a seed
// repeats it; nil grudges mean that so few nodes cannot be parted this way.

// Halves parts nodes into two random halves; of an odd number one side has one more.
func Halves(nodes []string, r *rand.Rand) []Grudge {
	s := shuffled(nodes, r)
	return between(s[:len(s)/2], s[len(s)/2:])
}

// Bridge parts nodes into two random halves but for one random node, which goes
// on reaching both.
func Bridge(nodes []string, r *rand.Rand) []Grudge {
	if len(nodes) < 3 {
		return nil
	}
	s := shuffled(nodes, r)[1:] // the first is the bridge
	return between(s[:len(s)/2], s[len(s)/2:])
}

// MajoritiesRing lets every node reach a majority and no two nodes the same one,
// by two-way cuts: on a random ring each reaches its k nearest on either side, for
// the least k that makes a majority. Three nodes have no such ring, for two
// neighbours are everybody: one link is cut there, which leaves {a,b}, {a,b,c},
// {b,c}. Jepsen's one-way ring of three would stop all TCP between them.
func MajoritiesRing(nodes []string, r *rand.Rand) []Grudge {
	s := shuffled(nodes, r)
	n := len(s)
	if n == 3 {
		return between(s[:1], s[2:])
	}
	k := (n/2 + 1) / 2 // a majority is n/2+1 with the node itself: n/2 neighbours, on two sides
	var cuts []Grudge
	for i := range s {
		var far []string
		for d := k + 1; d <= n/2; d++ {
			if 2*d < n || i < n/2 { // the node just opposite is met twice
				far = append(far, s[(i+d)%n])
			}
		}
		cuts = append(cuts, between(s[i:i+1], far)...)
	}
	return cuts
}

// between is a two-way cut, or none when a side is empty.
func between(a, b []string) []Grudge {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	return []Grudge{{From: slices.Clone(a), To: slices.Clone(b), Direction: Both}}
}

// shuffled returns nodes in an order that depends on r and on their names alone,
// not on the order in which they were listed.
func shuffled(nodes []string, r *rand.Rand) []string {
	s := slices.Compact(slices.Sorted(slices.Values(nodes)))
	r.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
	return s
}
