package corpus

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/bounded"
)

// Shown is what one run has shown of an entry's property.
type Shown struct {
	Verdict   checker.Verdict `json:"verdict"`
	Detection float64         `json:"detection,omitempty"` // seconds from the first operation of a client to the first violation
	Dir       string          `json:"-"`
	Error     string          `json:"error,omitempty"`
}

// Look finds an entry's property in a judged run.
func Look(e Entry, r checker.Result, ops []history.Op) Shown {
	for _, p := range r.Properties {
		if p.Name != e.Property {
			continue
		}
		s := Shown{Verdict: p.Verdict}
		if p.Verdict == checker.Violated && len(p.Violations) > 0 {
			first := slices.MinFunc(p.Violations, func(a, b checker.Violation) int { return int(min(1, max(-1, a.At-b.At))) })
			s.Detection = time.Duration(first.At - begin(ops)).Seconds()
		}
		return s
	}
	return Shown{Error: "nothing was judged of " + e.Property}
}

// begin is when the first client asked for anything.
func begin(ops []history.Op) int64 {
	for _, op := range ops {
		if op.Type == history.Invoke {
			return op.Time
		}
	}
	return 0
}

// Side is what the runs of one pin have shown.
type Side struct {
	Runs         int     `json:"runs"`
	Found        int     `json:"found"`             // the property was violated
	Held         int     `json:"held"`              // it held
	Inconclusive int     `json:"inconclusive"`      // it could not be judged
	Failed       int     `json:"failed"`            // there was no verdict at all
	Detection    float64 `json:"detection_seconds"` // median, of those that found it
}

// Sum adds up the runs of one pin.
func Sum(all []Shown) (s Side) {
	var times []float64
	for _, r := range all {
		s.Runs++
		switch {
		case r.Error != "":
			s.Failed++
		case r.Verdict == checker.Violated:
			s.Found++
			times = append(times, r.Detection)
		case r.Verdict == checker.Unknown:
			s.Inconclusive++
		default: // held, or was not promised
			s.Held++
		}
	}
	if slices.Sort(times); len(times) > 0 {
		s.Detection = times[len(times)/2]
	}
	return s
}

// Track is what is known of an entry from its newest runs.
type Track struct {
	Entry    string `json:"entry"`
	Date     string `json:"date"`    // of the runs, UTC
	Runtime  string `json:"runtime"` // docker or local
	Affected Side   `json:"affected"`
	Control  Side   `json:"control"`
}

// Met says whether every run has shown what it must.
func (t Track) Met() bool {
	return t.Affected.Runs > 0 && t.Affected.Found == t.Affected.Runs && t.Control.Held == t.Control.Runs
}

// Record is a file of tracks, newest of each entry.
type Record struct {
	Tracks []Track `json:"tracks"`
}

// mostOfARecord is many times what all entries need in both runtimes.
const mostOfARecord = 16 << 20

const mostTracks = 10_000

// Read reads a record; one that is not there is empty.
func Read(path string) (r Record, err error) {
	text, err := bounded.ReadNamed(path, mostOfARecord)
	if errors.Is(err, os.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = bounded.Values(path, text)
	}
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err == nil && len(r.Tracks) > mostTracks {
		err = fmt.Errorf("%w: it has %d tracks, and all bugs in both runtimes at most %d", bounded.ErrTooLarge, len(r.Tracks), mostTracks)
	}
	if err != nil {
		err = fmt.Errorf("record %s: %w", path, err)
	}
	return r, err
}

// Put replaces the track of an entry on a runtime.
func (r *Record) Put(t Track) {
	r.Tracks = slices.DeleteFunc(r.Tracks, func(o Track) bool { return o.Entry == t.Entry && o.Runtime == t.Runtime })
	r.Tracks = append(r.Tracks, t)
	place := func(t Track) int { return slices.Index(Names(), t.Entry)*2 + len(t.Runtime)%2 }
	slices.SortStableFunc(r.Tracks, func(a, b Track) int { return place(a) - place(b) })
}

// Write writes the record as JSON.
func (r Record) Write(w io.Writer) error {
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	return out.Encode(r)
}
