package reports

import (
	"cmp"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
)

// KeyFigures are what a comparison measures of a run, up to its final acquires.
// Durations are nanoseconds.
type KeyFigures struct {
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

// keyFigures measures a run.
func keyFigures(t *view, s *tracks, r checker.Result) KeyFigures {
	k := KeyFigures{
		Faults: r.Counts.Faults, StaleWrites: r.Counts.StaleWrites, StaleRefused: r.Counts.StaleRefused,
		FirstViolation: time.Duration(r.FirstViolation), Unknowns: r.Counts.Unknowns, MaxStall: time.Duration(r.Counts.MaxStall),
	}
	h := hdrhistogram.New(1, int64(time.Hour/time.Microsecond), 3)
	for i := range t.Ops {
		op := &t.Ops[i]
		from, ends := t.Started(i)
		if !ends || !isAcquire(op.F) || op.Time > s.to {
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
	if took := time.Duration(s.to - s.from); took > 0 {
		k.GrantsPerSecond = float64(k.Acquires) / took.Seconds()
	}
	for _, x := range s.twice {
		k.Twice += duration(x.span)
	}
	free := t.wantedFree(s)
	for _, f := range free {
		if d := duration(f); d > k.LongestFree {
			k.LongestFree, k.LongestFreeAt = d, time.Duration(f.from-s.from)
		}
	}
	k.recovery(t)
	return k
}

// recovery takes over what the page of the run says of it.
func (k *KeyFigures) recovery(t *view) {
	m := &measurement{view: t}
	if attempt(func() { m.measureRecoveries() }) != "" {
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
func (t *view) wantedFree(s *tracks) (free []span) {
	edges := map[string][]edge{}
	add := func(key string, x span, holds, waits int) {
		x.to = min(x.to, s.to)
		if x.from < x.to {
			edges[key] = append(edges[key], edge{x.from, holds, waits}, edge{x.to, -holds, -waits})
		}
	}
	for _, g := range t.Grants {
		add(g.Key.Name, belief(g), 1, 0)
	}
	for i := range t.Ops {
		if op := &t.Ops[i]; op.Type == history.Invoke && isAcquire(op.F) {
			w := span{op.Time, s.to}
			if end, ok := t.Ended(i); ok {
				w.to = t.Ops[end].Time
			}
			add(op.Key, w, 0, 1)
		}
	}
	for _, all := range edges {
		slices.SortStableFunc(all, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
		free = append(free, gaps(all)...)
	}
	slices.SortFunc(free, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	return free
}

// gaps are the times at which somebody waits and nobody holds.
func gaps(edges []edge) (free []span) {
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
			free, since = append(free, span{since, e.at}), -1
		}
	}
	return free
}
