package checker

import "sort"

// peaks finds the greatest of a range of n values: a tree whose leaves are their
// indexes, and whose inner nodes name the greater of two. It is made when first asked.
type peaks struct {
	n     int
	tree  []int
	value func(int) int64
}

func (p *peaks) grow() {
	p.tree = make([]int, 2*p.n)
	for i := range p.n {
		p.tree[p.n+i] = i
	}
	for i := p.n - 1; i > 0; i-- {
		p.tree[i] = p.greater(p.tree[2*i], p.tree[2*i+1])
	}
}

func (p *peaks) greater(a, b int) int {
	if a < 0 || b >= 0 && p.value(b) > p.value(a) {
		return b
	}
	return a
}

// in is the index of the greatest value from first to before end, -1 if there is none.
func (p *peaks) in(first, end int) int {
	if p.tree == nil {
		p.grow()
	}
	best := -1
	for i, j := p.n+first, p.n+end; i < j; i, j = i/2, j/2 {
		if i&1 == 1 {
			best = p.greater(best, p.tree[i])
			i++
		}
		if j&1 == 1 {
			j--
			best = p.greater(best, p.tree[j])
		}
	}
	return best
}

// first is the index of the first value above a limit, from first to before end; -1: none.
func (p *peaks) first(first, end int, above int64) int {
	if i := p.in(first, end); i < 0 || p.value(i) <= above {
		return -1
	}
	n := sort.Search(end-first, func(n int) bool { return p.value(p.in(first, first+n+1)) > above })
	return first + n
}
