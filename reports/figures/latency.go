package figures

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/reports/timeline"
)

// Quantiles is how long one kind of operation took, over a whole run.
type Quantiles struct {
	Operation string        `json:"operation"` // acquire, acquire-refused, renew, renew-refused, release, release-refused, read, write
	Name      string        `json:"-"`         // the same for people
	Count     int           `json:"count"`
	P50       time.Duration `json:"p50_ns"`
	P90       time.Duration `json:"p90_ns"`
	P99       time.Duration `json:"p99_ns"`
	P999      time.Duration `json:"p999_ns"`
	Max       time.Duration `json:"max_ns"`
}

// windows is how many stretches the charts of latency cut a run into.
const windows = 120

// latency is what the charts of latency show.
type latency struct {
	points []int64 // acquires: end µs, took µs, index of the completion, 1 if granted
	bands  []int64 // of granted acquires: start µs, end µs, p50 µs, p99 µs of each window that has any
	table  []Quantiles
	width  int64       // of a window, ns
	over   [][]*window // class → window; nil where nothing ended
	whole  []window    // class
}

// window is how long the operations took that ended in one stretch of the run. A
// histogram rounds; the longest is exact.
type window struct {
	*hdrhistogram.Histogram
	most int64 // µs
}

func (w *window) record(took int64) {
	took = min(max(took, 1), hour)
	w.most = max(w.most, took)
	_ = w.RecordValue(took) // fails only out of range
}

// at is a quantile in µs, of 0 to 100.
func (w *window) at(q float64) int64 { return min(w.ValueAtQuantile(q), w.most) }

// took is the same as a duration.
func (w *window) took(q float64) time.Duration { return micros(w.at(q)) }

// newWindow counts from 1 µs to 1 h, to so many digits.
func newWindow(digits int) *window { return &window{Histogram: hdrhistogram.New(1, hour, digits)} }

// class is a kind of operation with one outcome; a refused one is another kind, as
// it waited as well, often the longest of all.
type class struct {
	f               history.F
	ok              bool
	operation, name string
	windowed        bool // it has a chart over time
}

var classes = []class{
	{history.Acquire, true, "acquire", "acquire, granted", true},
	{history.Acquire, false, "acquire-refused", "acquire, not granted", false},
	{history.Extend, true, "renew", "renew", true},
	{history.Extend, false, "renew-refused", "renew, refused or not answered", false},
	{history.Release, true, "release", "release", true},
	{history.Release, false, "release-refused", "release, refused or not answered", false},
	{history.Read, true, "read", "read", false},
	{history.Write, true, "write", "write", false},
}

// The classes of acquires.
const (
	granted = iota
	refused
)

// classOf is the class that an operation's end belongs to; -1: none.
func classOf(op *history.Op) int {
	f := op.F
	if f == history.Try {
		f = history.Acquire
	}
	for i := range classes {
		if classes[i].f == f && classes[i].ok == (op.Type == history.OK) {
			return i
		}
	}
	return -1
}

// measure takes the time from invoke to end of each operation, once.
func (m *Measurement) measure() latency {
	if m.latency != nil {
		return *m.latency
	}
	l := latency{width: max((m.End-m.Begin)/windows, 1), over: make([][]*window, len(classes))}
	for i, c := range classes {
		l.whole = append(l.whole, *newWindow(3))
		if c.windowed {
			l.over[i] = make([]*window, windows+1)
		}
	}
	for i := range m.Ops {
		from, ok := m.Started(i)
		class := classOf(&m.Ops[i])
		if !ok || class < 0 {
			continue
		}
		took := (m.Ops[i].Time - m.Ops[from].Time) / 1000
		l.whole[class].record(took)
		at := max(m.Ops[i].Time-m.Begin, 0)
		if class <= refused {
			l.points = append(l.points, at/1000, max(took, 1), int64(i), timeline.Flag(class == granted))
		}
		if over := l.over[class]; over != nil {
			w := min(at/l.width, windows)
			if over[w] == nil {
				over[w] = newWindow(2)
			}
			over[w].record(took)
		}
	}
	for i := range l.whole {
		if h := &l.whole[i]; h.TotalCount() > 0 {
			l.table = append(l.table, h.quantiles(classes[i]))
		}
	}
	for i, w := range l.over[granted] {
		if w != nil {
			from := int64(i) * l.width / 1000
			l.bands = append(l.bands, from, from+l.width/1000, w.at(50), w.at(99))
		}
	}
	m.latency = &l
	return l
}

const hour = int64(time.Hour / time.Microsecond)

func (w *window) quantiles(c class) Quantiles {
	return Quantiles{Operation: c.operation, Name: c.name, Count: int(w.TotalCount()),
		P50: w.took(50), P90: w.took(90), P99: w.took(99), P999: w.took(99.9), Max: micros(w.most)}
}

func micros(us int64) time.Duration { return time.Duration(us) * time.Microsecond }

// Acquires are those of the charts on a timeline: each as end µs, took µs, index of its
// completion, 1 if granted; and start µs, end µs, p50 µs, p99 µs of each window that has any.
func (m *Measurement) Acquires() (points, bands []int64) {
	l := m.measure()
	return l.points, l.bands
}
