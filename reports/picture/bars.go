package picture

// bars draws the bars of one tone in a row, which come in the order of their beginnings. A history may have a
// hundred thousand in a picture of a thousand points: a bar where one like it is already is left out, and once
// there are many, so is what others cover. A row then has a bounded number, and looks the same.
type bars struct {
	pen   *picturePen
	tone  string
	drawn map[[2]int]bool // from and to, in hairs
	reach float64         // the farthest end
}

const (
	hair       = 0.25 // points: nobody sees less
	manyBars   = 1000 // of a row
	mostTokens = 200  // of a lane: more are one blot
)

func newBars(pen *picturePen, tone string) *bars {
	return &bars{pen: pen, tone: tone, drawn: map[[2]int]bool{}}
}

// draw draws a bar that is so wide and high, at each of the heights.
func (b *bars) draw(x, wide, high float64, at ...float64) {
	to := x + wide
	if len(b.drawn) >= manyBars {
		if to < b.reach+hair {
			return
		}
		x = max(x, b.reach) // what is before it others cover, as they began earlier
	}
	place := [2]int{int(x / hair), int(to / hair)}
	if b.drawn[place] {
		return
	}
	b.drawn[place], b.reach = true, max(b.reach, to)
	for _, y := range at {
		b.pen.rect(x, y, to-x, high, b.tone)
	}
}
