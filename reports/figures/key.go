package figures

import (
	"cmp"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/reports/timeline"
)

// Key are what a comparison measures of a run, up to its final acquires.
// Durations are nanoseconds.
type Key struct {
	Acquires        int           `json:"acquires"` // that were granted
	AcquireP50      time.Duration `json:"acquire_p50"`
	AcquireP99      time.Duration `json:"acquire_p99"`
	AcquireMax      time.Duration `json:"acquire_max"`
	NotGranted      int           `json:"not_granted"`
	GrantsPerSecond float64       `json:"grants_per_second"`
	LongestFree     time.Duration `json:"longest_free"`    // nobody held a key although somebody waited for it
	LongestFreeAt   time.Duration `json:"longest_free_at"` // when that began, from the first operation of a client
	Faults          int           `json:"faults"`
	Recovery        time.Duration `json:"recovery"`    // the longest of a run's recoveries: see Recovery
	Recovered       int           `json:"recovered"`   // how many there are
	Unrecovered     int           `json:"unrecovered"` // after how many faults nobody was granted the key any more
	Twice           time.Duration `json:"twice"`       // two clients believed to hold one key, in sum
	StaleWrites     int           `json:"stale_writes"`
	StaleRefused    int           `json:"stale_refused"`
	FirstViolation  time.Duration `json:"first_violation,omitempty"` // from the first grant
	Unknowns        int           `json:"unknown_outcomes"`
	MaxStall        time.Duration `json:"max_stall"`
}

// KeyOf measures a run.
func KeyOf(t *timeline.View, s *timeline.Tracks, r checker.Result) Key {
	k := Key{
		Faults: r.Counts.Faults, StaleWrites: r.Counts.StaleWrites, StaleRefused: r.Counts.StaleRefused,
		FirstViolation: time.Duration(r.FirstViolation), Unknowns: r.Counts.Unknowns, MaxStall: time.Duration(r.Counts.MaxStall),
	}
	h := hdrhistogram.New(1, int64(time.Hour/time.Microsecond), 3)
	for i := range t.Ops {
		op := &t.Ops[i]
		from, ends := t.Started(i)
		if !ends || !timeline.IsAcquire(op.F) || op.Time > s.To {
			continue
		}
		if op.Type != history.OK {
			k.NotGranted++
			continue
		}
		k.Acquires++
		took := max((op.Time-t.Ops[from].Time)/1000, 1)
		_ = h.RecordValue(min(took, int64(time.Hour/time.Microsecond))) // fails only out of range
	}
	at := func(q float64) time.Duration { return time.Duration(h.ValueAtQuantile(q)) * time.Microsecond }
	if k.Acquires > 0 {
		k.AcquireP50, k.AcquireP99, k.AcquireMax = at(50), at(99), time.Duration(h.Max())*time.Microsecond
	}
	if took := time.Duration(s.To - s.From); took > 0 {
		k.GrantsPerSecond = float64(k.Acquires) / took.Seconds()
	}
	for _, x := range s.Twice {
		k.Twice += x.Span.Length()
	}
	free := wantedFree(t, s)
	for _, f := range free {
		if d := f.Length(); d > k.LongestFree {
			k.LongestFree, k.LongestFreeAt = d, time.Duration(f.From-s.From)
		}
	}
	k.recovery(t)
	return k
}

// recovery takes over what the page of the run says of it.
func (k *Key) recovery(t *timeline.View) {
	m := &Measurement{View: t}
	if Attempt(func() { m.measureRecoveries() }) != "" {
		return // which that page says
	}
	for _, r := range m.Recoveries {
		if r.Waited < 0 {
			k.Unrecovered++
			continue
		}
		k.Recovery, k.Recovered = max(k.Recovery, time.Duration(r.Waited)), k.Recovered+1
	}
}

// edge is a change of how many hold a key, or wait for it.
type edge struct {
	at           int64
	holds, waits int
}

// wantedFree finds, key by key, when somebody waited and nobody believed to hold.
func wantedFree(t *timeline.View, s *timeline.Tracks) (free []timeline.Span) {
	edges := map[string][]edge{}
	add := func(key string, x timeline.Span, holds, waits int) {
		x.To = min(x.To, s.To)
		if x.From < x.To {
			edges[key] = append(edges[key], edge{x.From, holds, waits}, edge{x.To, -holds, -waits})
		}
	}
	for _, g := range t.Grants {
		add(g.Key.Name, timeline.Belief(g), 1, 0)
	}
	for i := range t.Ops {
		if op := &t.Ops[i]; op.Type == history.Invoke && timeline.IsAcquire(op.F) {
			w := timeline.Span{From: op.Time, To: s.To}
			if end, ok := t.Ended(i); ok {
				w.To = t.Ops[end].Time
			}
			add(op.Key, w, 0, 1)
		}
	}
	for _, all := range edges {
		slices.SortStableFunc(all, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
		free = append(free, gaps(all)...)
	}
	slices.SortFunc(free, func(a, b timeline.Span) int { return cmp.Compare(a.From, b.From) })
	return free
}

// gaps are the times at which somebody waits and nobody holds.
func gaps(edges []edge) (free []timeline.Span) {
	holds, waits, since := 0, 0, int64(-1)
	for i, e := range edges {
		holds, waits = holds+e.holds, waits+e.waits
		if i+1 < len(edges) && edges[i+1].at == e.at {
			continue // at one instant all changes count together
		}
		switch open := waits > 0 && holds == 0; {
		case open && since < 0:
			since = e.at
		case !open && since >= 0:
			free, since = append(free, timeline.Span{From: since, To: e.at}), -1
		}
	}
	return free
}
