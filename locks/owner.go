package locks

import (
	crand "crypto/rand"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// owners names grants: "<client>/<n>/<random>". The random part is not seeded: a
// client that was killed and started again with the same seed would otherwise
// repeat the names of its former life, and could release that life's grants.
type owners struct {
	client string
	n      atomic.Uint64
}

func (o *owners) next() string {
	return fmt.Sprintf("%s/%d/%s", o.client, o.n.Add(1), crand.Text()[:10])
}

// jitter draws random delays in [min, max) from the run's seed.
type jitter struct {
	mu       sync.Mutex
	rng      *rand.Rand
	min, max time.Duration
}

// newJitter seeds by the client's name too, so that clients of one run do not
// ask in step.
func newJitter(c Config, min, max time.Duration) *jitter {
	h := fnv.New64a()
	h.Write([]byte(c.Client))
	return &jitter{rng: rand.New(rand.NewPCG(c.Seed, h.Sum64())), min: min, max: max}
}

func (j *jitter) next() time.Duration {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.min + time.Duration(j.rng.Int64N(int64(j.max-j.min)))
}

// holdings are the grants that Close still has to give back.
type holdings struct {
	mu sync.Mutex
	by map[string]*Grant
}

func (h *holdings) add(g *Grant) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.by == nil {
		h.by = map[string]*Grant{}
	}
	h.by[g.Owner] = g
}

// drop forgets a grant and says whether it was known.
func (h *holdings) drop(owner string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, known := h.by[owner]
	delete(h.by, owner)
	return known
}

func (h *holdings) has(owner string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, known := h.by[owner]
	return known
}

func (h *holdings) all() []*Grant {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []*Grant
	for _, g := range h.by {
		out = append(out, g)
	}
	return out
}
