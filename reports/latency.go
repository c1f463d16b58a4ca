package reports

import (
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/dlmtest/dlmtest/history"
)

// Quantiles is how long one kind of operation took, over a whole run.
type Quantiles struct {
	Name                     string
	Count                    int
	P50, P90, P99, P999, Max time.Duration
}

// windows is how many stretches the chart of latency cuts a run into.
const windows = 120

// latency is what the chart of acquisition shows.
type latency struct {
	points []int64 // end µs, took µs, index of the completion, 1 if granted
	bands  []int64 // start µs, end µs, p50 µs, p99 µs of each window that has any
	table  []Quantiles
}

// measure takes the time from invoke to ok of each operation that succeeded, and
// of each acquire that did not: it waited as well, often the longest of all.
func (t *trace) measure() latency {
	var l latency
	names := []string{"acquire, granted", "acquire, not granted", "renew", "read", "write", "release"}
	all := make([]*hdrhistogram.Histogram, len(names))
	for i := range all {
		all[i] = newHistogram()
	}
	width := max((t.endTime()-t.startTime())/windows, 1)
	in := make([]*hdrhistogram.Histogram, windows+1)
	for i := range t.ops {
		from, ok := t.started[i]
		if !ok {
			continue
		}
		began := t.ops[from].Time
		took := max((t.ops[i].Time-began)/1000, 1)
		class := classOf(&t.ops[i])
		if class < 0 {
			continue
		}
		record(all[class], took)
		at := t.ops[i].Time - t.startTime()
		if class <= refused {
			l.points = append(l.points, at/1000, took, int64(i), flag01(class == granted))
		}
		if class == granted {
			if w := at / width; in[w] == nil {
				in[w] = newHistogram()
			}
			record(in[at/width], took)
		}
	}
	l.bands = bands(in, width)
	for i, h := range all {
		if h.TotalCount() > 0 {
			l.table = append(l.table, quantiles(names[i], h))
		}
	}
	return l
}

func bands(in []*hdrhistogram.Histogram, width int64) (flat []int64) {
	for i, h := range in {
		if h != nil {
			from := int64(i) * width / 1000
			flat = append(flat, from, from+width/1000, h.ValueAtQuantile(50), h.ValueAtQuantile(99))
		}
	}
	return flat
}

// The classes of acquires; those of other operations follow.
const (
	granted = iota
	refused
)

// classOf is the row of the table that an operation's end belongs to; -1: none.
func classOf(op *history.Op) int {
	switch {
	case isAcquire(op.F) && op.Type == history.OK:
		return granted
	case isAcquire(op.F):
		return refused
	case op.Type != history.OK:
		return -1
	}
	if i := slices.Index([]history.F{history.Extend, history.Read, history.Write, history.Release}, op.F); i >= 0 {
		return refused + 1 + i
	}
	return -1
}

// newHistogram counts from 1 µs to 1 h, to three digits.
func newHistogram() *hdrhistogram.Histogram { return hdrhistogram.New(1, hour, 3) }

const hour = int64(time.Hour / time.Microsecond)

func record(h *hdrhistogram.Histogram, took int64) {
	_ = h.RecordValue(min(took, hour)) // fails only out of range
}

func quantiles(name string, h *hdrhistogram.Histogram) Quantiles {
	at := func(q float64) time.Duration { return time.Duration(h.ValueAtQuantile(q)) * time.Microsecond }
	return Quantiles{
		Name: name, Count: int(h.TotalCount()),
		P50: at(50), P90: at(90), P99: at(99), P999: at(99.9), Max: time.Duration(h.Max()) * time.Microsecond,
	}
}
