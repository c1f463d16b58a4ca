package cut

import (
	"fmt"
	"maps"
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
