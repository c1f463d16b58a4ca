package lossy

import (
	"math/rand/v2"

	"golang.org/x/sys/unix"
)

// tear is what a torn crash leaves of one file: a prefix of its unsynced changes and,
// of the writes that come next, either the first sectors of one, or, page by page, what
// the page was at some moment of its own. The latter is what a kernel does that writes
// dirty pages back in any order: a later write is there without an earlier one.
type tear struct {
	keep    int  // of the edits
	base    bool // the base survives, without which no edit can
	sectors bool // of the first edit that is lost the first sectors survive

	when  map[int64]int // page → after how many edits its picture is taken
	album []print
}

// print is what was in a part of a page.
type print struct {
	off   int64
	bytes []byte
}

const pageSize = 4096

// tear draws; in another mode than Torn nothing survives.
func (u *undo) tear(mode Mode, rng *rand.Rand) tear {
	if mode != Torn || u.base != nil && rng.IntN(2) == 0 {
		return tear{}
	}
	t := tear{keep: rng.IntN(len(u.edits) + 1), base: true}
	if t.keep == len(u.edits) || u.edits[t.keep].n == 0 {
		return t
	}
	if t.sectors = rng.IntN(2) == 0; t.sectors {
		return t
	}
	t.when = map[int64]int{}
	end := t.keep // pages change places only among plain writes
	for end < len(u.edits) && u.edits[end].n > 0 {
		end++
	}
	for _, e := range u.edits[t.keep:end] {
		for page := e.off / pageSize; page*pageSize < e.off+e.n; page++ {
			if _, drawn := t.when[page]; !drawn {
				t.when[page] = t.keep + rng.IntN(end-t.keep+1)
			}
		}
	}
	return t
}

// photograph takes the pictures of the moment after so many edits.
func (t *tear) photograph(fd int, edits int) error {
	for page, when := range t.when {
		if when != edits || fd < 0 {
			continue
		}
		b := make([]byte, pageSize)
		n, err := unix.Pread(fd, b, page*pageSize)
		if err != nil {
			return err
		}
		t.album = append(t.album, print{page * pageSize, b[:n]})
	}
	return nil
}

// develop puts the pictures into the file. A page past the end lengthens it, as the
// size is written with the page that needs it.
func (t *tear) develop(fd int) error {
	for _, p := range t.album {
		if err := pwriteAll(fd, p.bytes, p.off); err != nil {
			return err
		}
	}
	return nil
}
