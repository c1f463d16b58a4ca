package capacity

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/dlmtest/dlmtest/internal/nouns"
)

// Sample is what was measured at one size.
type Sample struct {
	Locks    int     `json:"locks"`
	Sessions int     `json:"sessions"`
	Memory   float64 `json:"memory"`        // bytes, of one server on average
	Own      float64 `json:"own,omitempty"` // bytes, as a server tells itself, on average
	Client   float64 `json:"client"`        // bytes a second at the clients' interface, both ways
	Server   float64 `json:"server"`        // bytes a second at all servers' interfaces, both ways
}

// Report is all that a run measured.
type Report struct {
	Backend  string   `json:"backend"`
	Version  string   `json:"version"`
	Servers  int      `json:"servers"`
	Runtime  string   `json:"runtime"`
	Beat     float64  `json:"beat"`               // seconds from one renewal of a session to the next
	OwnName  string   `json:"own_name,omitempty"` // of the figure Own
	Locks    []Sample `json:"locks"`              // by their number
	Sessions []Sample `json:"sessions"`
	Rows     []Row    `json:"rows"`
	Not      []string `json:"not_counted"`
}

// Row is one fitted line and what it comes to.
type Row struct {
	What     string  `json:"what"`
	Kind     string  `json:"kind"` // What, whatever the server calls its own figure
	Unit     string  `json:"unit"` // bytes, or bytes/s
	Line     Line    `json:"line"`
	At       float64 `json:"at"` // the size that it is extrapolated to
	Cost     float64 `json:"cost"`
	Off      float64 `json:"off"`                // the error of Cost, 95 %
	Usual    float64 `json:"usual,omitempty"`    // the usual estimate of one; 0: there is none
	UsualIs  string  `json:"usual_is,omitempty"` // in words
	Distance float64 `json:"distance"`           // At, over the largest size measured
}

// The sizes that are asked about.
const (
	ManyLocks   = 1_000_000
	ManyClients = 100_000
)

// usualPing is the usual estimate of a heartbeat, in bytes a second: 64 bytes each 2 s.
const usualPing = 64 / 2.0

// Conclude fits the lines.
func (r *Report) Conclude() {
	memory := func(s Sample) float64 { return s.Memory }
	own := func(s Sample) float64 { return s.Own }
	locks := func(s Sample) float64 { return float64(s.Locks) }
	sessions := func(s Sample) float64 { return float64(s.Sessions) }
	r.Rows = nil
	hold := func(what string, samples []Sample, x func(Sample) float64, at, usual float64, words string) {
		if r.OwnName != "" {
			r.row(Row{What: what + ", " + r.OwnName, Kind: what + ", what the server holds", Unit: "bytes", At: at, Usual: usual,
				UsualIs: words}, samples, x, own)
		}
		r.row(Row{What: what + ", as the kernel counts it", Unit: "bytes", At: at, Usual: usual, UsualIs: words}, samples, x, memory)
	}
	hold("memory a lock", r.Locks, locks, ManyLocks, Asks[r.Backend].Usual, Asks[r.Backend].UsualIs)
	hold("memory a session", r.Sessions, sessions, ManyClients, 0, "")
	beats := func(where string, bytes func(Sample) float64) {
		r.row(Row{What: "heartbeat of a session, " + where, Unit: "bytes/s", At: ManyClients, Usual: usualPing, UsualIs: "64 bytes each 2 s"},
			r.Sessions, sessions, bytes)
	}
	beats("at its client", func(s Sample) float64 { return s.Client })
	beats("at all servers", func(s Sample) float64 { return s.Server })
}

// row fits the line of a row, where it was measured at enough sizes.
func (r *Report) row(row Row, samples []Sample, x, y func(Sample) float64) {
	var xs, ys []float64
	for _, s := range samples {
		xs, ys = append(xs, x(s)), append(ys, y(s))
	}
	if len(xs) < 3 {
		return
	}
	row.Kind = cmp.Or(row.Kind, row.What)
	row.Line, row.Distance = Fit(xs, ys), row.At/max(1, xs[len(xs)-1])
	row.Cost, row.Off = row.Line.At(row.At)
	r.Rows = append(r.Rows, row)
}

// Text writes the report for people.
func (r *Report) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s, %s, runtime %s\n\n", r.Backend, r.Version, nouns.Count(r.Servers, "server"), r.Runtime)
	fmt.Fprintf(&b, "    locks  sessions  memory a server  own figure  bytes/s at clients  bytes/s at servers\n")
	for _, s := range append(append([]Sample{}, r.Locks...), r.Sessions...) {
		fmt.Fprintf(&b, "%9d %9d %16s %11s %19.0f %19.0f\n", s.Locks, s.Sessions, Bytes(s.Memory), Bytes(s.Own), s.Client, s.Server)
	}
	for _, row := range r.Rows {
		fmt.Fprintf(&b, "\n%s\n  %.1f ± %.1f %s each (95 %%, %d sizes, R² %.3f)\n", row.What, row.Line.Slope,
			row.Line.Error, row.Unit, row.Line.Points, row.Line.R2)
		if row.Unit == "bytes/s" && r.Beat > 0 {
			fmt.Fprintf(&b, "  that is %.0f bytes a heartbeat, one each %.1f s\n", row.Line.Slope*r.Beat, r.Beat)
		}
		fmt.Fprintf(&b, "  %s: %s ± %s", size(row.At), per(row.Cost, row.Unit), per(row.Off, row.Unit))
		if row.Usual > 0 {
			fmt.Fprintf(&b, "; the usual estimate, %s, says %s", row.UsualIs, per(row.Usual*row.At, row.Unit))
		}
		fmt.Fprintf(&b, "\n  extrapolated %.0f times beyond what was measured%s\n", row.Distance, row.warning())
	}
	fmt.Fprintf(&b, "\nNot counted:\n")
	for _, n := range r.Not {
		fmt.Fprintf(&b, "  - %s\n", n)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// warning says when the line says nothing.
func (r Row) warning() string {
	if math.Abs(r.Line.Slope) <= r.Line.Error {
		return "; the error is as large as the figure: take more, with --locks and --sessions"
	}
	return ""
}

func size(at float64) string {
	if at == ManyLocks {
		return "1,000,000 locks"
	}
	return "100,000 clients"
}

func per(n float64, unit string) string {
	if unit == "bytes/s" {
		return Bytes(n) + "/s"
	}
	return Bytes(n)
}

// Bytes writes a number of bytes to three digits.
func Bytes(n float64) string {
	unit := "B"
	for _, next := range []string{"kB", "MB", "GB", "TB"} {
		if math.Abs(n) < 1000 {
			break
		}
		n, unit = n/1000, next
	}
	switch {
	case n == 0:
		return "0 B"
	case math.Abs(n) < 10:
		return fmt.Sprintf("%.2f %s", n, unit)
	case math.Abs(n) < 100:
		return fmt.Sprintf("%.1f %s", n, unit)
	}
	return fmt.Sprintf("%.0f %s", n, unit)
}
