package nemesis

import (
	"math/rand/v2"
	"slices"
	"time"
)

// Mix is a schedule that is drawn, not written.
type Mix struct {
	Every time.Duration // mean time from the start of one fault to the start of the next
	For   time.Duration // the last one starts before this, from the begin of the load
	Items []Item
}

// Item is one fault of a mix. Its At is drawn, and so is its length, evenly from
// Min to Max, where nothing else ends it.
type Item struct {
	Weight int // how often it is drawn beside the others; at least 1
	Fault  Fault
}

// drawn is the stream of the schedule itself. The numbers of faults are the streams
// of the choices that each of them makes, and they start at 1.
const drawn = 0

// Draw returns the schedule that a seed makes of a mix: a pure function, so the
// same seed gives the same faults at the same times. Gaps are drawn exponentially:
// a fault is as likely at any moment as at any other, whatever came before it, so
// that some come close together and some alone. Times are whole milliseconds.
func Draw(seed uint64, m Mix) []Fault {
	random := rand.New(rand.NewPCG(seed, drawn))
	if len(m.Items) == 0 || m.Every <= 0 {
		return nil
	}
	var all []Fault
	at := time.Duration(0)
	for {
		at += time.Duration(random.ExpFloat64() * float64(m.Every)).Round(time.Millisecond)
		if at >= m.For {
			return all
		}
		f := pick(random, m.Items)
		f.At, f.Random = at, true
		if f.Until == "" {
			f.Min += time.Duration(random.Float64() * float64(f.Max-f.Min)).Round(time.Millisecond)
			f.Min = max(f.Min, time.Millisecond) // one of no length could not be seen
			f.Max = f.Min
		}
		all = append(all, f)
	}
}

// pick draws one item by its weight.
func pick(random *rand.Rand, items []Item) Fault {
	sum := 0
	for _, x := range items {
		sum += max(x.Weight, 1)
	}
	n := random.IntN(sum)
	i := slices.IndexFunc(items, func(x Item) bool {
		n -= max(x.Weight, 1)
		return n < 0
	})
	f := items[i].Fault
	f.Item = i
	return f
}

// chooser is the generator of all that fault id chooses: its own, so that a choice
// does not depend on which of two faults at work at once comes first.
func chooser(seed uint64, id int) *rand.Rand { return rand.New(rand.NewPCG(seed, uint64(id))) }
