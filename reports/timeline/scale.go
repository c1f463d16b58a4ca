package timeline

import "strconv"

// Scale places a stretch of time between two edges of a drawing. All that is drawn in Go over
// time is placed by one; the page has its own in JavaScript (scale.js), as its reader zooms.
type Scale struct {
	Span
	Left, Right float64
}

// X is where an instant is, held inside the drawing.
func (s Scale) X(at int64) float64 {
	share := float64(at-s.From) / float64(max(s.To-s.From, 1))
	return s.Left + min(max(share, 0), 1)*(s.Right-s.Left)
}

// Tick is a round time on a scale.
type Tick struct {
	At   int64
	Text string // with its sign
}

// Ticks divides a scale at round times.
func (s Scale) Ticks() (all []Tick) {
	length := float64(s.To-s.From) / 1e9
	step := 0.001
	for _, round := range []float64{0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200} {
		if step = round; length/round <= 14 {
			break
		}
	}
	step = max(step, length/14)
	ns := int64(step * 1e9)
	for at := (s.From / ns) * ns; at <= s.To && len(all) < 40; at += ns {
		if at >= s.From {
			all = append(all, Tick{at, tickText(at, step)})
		}
	}
	return all
}

func tickText(at int64, step float64) string {
	digits := 0
	for s := step; s < 0.999 && digits < 3; s *= 10 {
		digits++
	}
	text := strconv.FormatFloat(float64(max(at, -at))/1e9, 'f', digits, 64) + " s"
	switch {
	case at < 0:
		return "−" + text
	case at > 0:
		return "+" + text
	}
	return text
}
