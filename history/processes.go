package history

// Processes is a set of process ids, for those that are retired: a bit each
// where they lie close together, as recorders number them, and about a hundred
// bytes where they do not. The zero value is empty.
type Processes struct {
	pages map[int]*[pageWords]uint64
	last  *[pageWords]uint64 // the page that was asked for last
	at    int                // its number
}

const pageWords = 8

// Has says whether id is in the set.
func (p *Processes) Has(id int) bool {
	page := p.page(id)
	return page != nil && page[id>>6&(pageWords-1)]>>(id&63)&1 == 1
}

// Add puts id into the set.
func (p *Processes) Add(id int) {
	page := p.page(id)
	if page == nil {
		if p.pages == nil {
			p.pages = map[int]*[pageWords]uint64{}
		}
		page = new([pageWords]uint64)
		p.pages[id>>9] = page
		p.last, p.at = page, id>>9
	}
	page[id>>6&(pageWords-1)] |= 1 << (id & 63)
}

func (p *Processes) page(id int) *[pageWords]uint64 {
	if n := id >> 9; p.last == nil || p.at != n {
		page := p.pages[n]
		if page == nil {
			return nil
		}
		p.last, p.at = page, n
	}
	return p.last
}
