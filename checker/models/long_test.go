package models

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestLongAgrees holds histories of up to 10^4 operations, as a lock that works leaves
// them but for some exchanges, and up to one unknown outcome in a hundred, against
// Porcupine. It may give up: that is counted. LONG in the environment is how many of
// each kind, without it there are few, and of at most 1000 operations.
func TestLongAgrees(t *testing.T) {
	sizes, limit := []int{100, 300, 1000}, 200*time.Millisecond
	n, err := strconv.Atoi(os.Getenv("LONG"))
	if err == nil {
		sizes, limit = []int{1000, 3000, 10000}, 5*time.Second
	} else {
		n = 2
	}
	checks(t, n)
	_ = flag.Set("rapid.checks", fmt.Sprint(n))
	for _, s := range shapes {
		if specsOnly(s.model) {
			continue
		}
		t.Run(s.String(), func(t *testing.T) {
			bySize := map[int]*tally{}
			rapid.Check(t, func(t *rapid.T) {
				for _, size := range sizes {
					if bySize[size] == nil {
						bySize[size] = &tally{}
					}
					p := &play{draws: draws{t}, shape: s, lives: true}
					p.unknown = []int{0, 0, 2}[p.n(3)]
					p.play(size)
					for range []int{0, 1, 20, 200}[p.n(4)] {
						p.perturb()
					}
					events := p.events
					bySize[size].agree(t, s, events, func(o Options, ops []Op) string { return Consult(s.model, o, ops, limit) })
				}
			})
			var all tally
			for _, size := range sizes {
				c := bySize[size]
				t.Logf("%d operations: %s", size, c)
				all.legal, all.illegal = all.legal+c.legal, all.illegal+c.illegal
			}
			if n >= 20 && !t.Failed() && (all.legal == 0 || all.illegal == 0) {
				t.Errorf("one-sided: %s", all)
			}
		})
	}
}
