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

// Minority cuts a random largest minority of the servers, as a group, from the
// other servers and from all others, such as clients.
func Minority(servers, others []string, r *rand.Rand) []Grudge {
	s := shuffled(servers, r)
	n := max(len(s)-1, 0) / 2
	return between(s[:n], slices.Concat(s[n:], others))
}

// Majority cuts a random smallest majority of the servers, as a group, from the
// other servers and from all others: whoever is left reaches a minority alone.
func Majority(servers, others []string, r *rand.Rand) []Grudge {
	s := shuffled(servers, r)
	n := len(s)/2 + 1
	if n > len(s) {
		return nil
	}
	return between(s[:n], slices.Concat(s[n:], others))
}

// Isolate cuts one node from all others: a leader from the rest, or a client from
// the lock service but not from the database.
func Isolate(node string, others []string, d Direction) []Grudge {
	rest := slices.DeleteFunc(slices.Clone(others), func(n string) bool { return n == node })
	if len(rest) == 0 {
		return nil
	}
	return []Grudge{{From: []string{node}, To: rest, Direction: d}}
}

// IsolateOne cuts one random node from the others.
func IsolateOne(nodes []string, r *rand.Rand) []Grudge {
	s := shuffled(nodes, r)
	if len(s) == 0 {
		return nil
	}
	return Isolate(s[0], s[1:], Both)
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
