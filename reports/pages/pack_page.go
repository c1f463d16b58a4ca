package pages

import (
	"bytes"
	"encoding/json"
	"html/template"
	"slices"
	"strconv"

	"github.com/dlmtest/dlmtest/internal/visible"
	"github.com/dlmtest/dlmtest/reports"
)

// head is what the page needs before it can draw anything, as JSON. What takes
// space follows in two packs: what is drawn, then what is shown on demand.
type head struct {
	Length  int64          `json:"length"`
	Count   int            `json:"count"`   // of operations
	Strings []string       `json:"strings"` // the first ones; the others come with the second pack
	Lanes   []laneHead     `json:"lanes"`
	Lease   int64          `json:"lease"`
	Stories []pageStory    `json:"stories"`
	Told    int            `json:"told"` // the story that is told first; -1: none
	Drawn   []packTable    `json:"drawn"`
	Raw     []packTable    `json:"raw"`
	Missing map[int]string `json:"tokens,omitempty"` // by operation: tokens that JavaScript has no number for
}

// MarshalJSON writes what is not seen, or turns text around, as escapes: the page is
// written without it, and what was recorded is to stay as it was.
func (h head) MarshalJSON() ([]byte, error) {
	type plain head
	b, err := json.Marshal(plain(h))
	var out bytes.Buffer
	_, _ = visible.File(&out).Write(b) // memory takes all
	return out.Bytes(), err
}

type laneHead struct {
	Name string       `json:"name"`
	Role reports.Role `json:"role"`
	Rows int          `json:"rows"`
}

// packs are the parts of a page that its script reads.
type packs struct {
	Head            head
	Drawn, Raw, Txt template.HTML
}

// pack writes a drawing for the page.
func (d *drawer) pack() (packs, error) {
	h := head{Length: d.Length, Count: len(d.Ops.Time), Strings: d.Strings[:d.early], Lease: d.Lease}
	drawn := &packer{times: running(d.Ops.Time)}
	drawn.add("time", "v", 0, d.Ops.Time)
	for _, l := range d.Lanes {
		h.Lanes = append(h.Lanes, laneHead{l.Name, l.Role, l.Rows})
		drawn.add("waits", "oedvx", 2, d.withEnds(l.Waits))
		drawn.add("bars", "ordv", 2, l.Bars)
		drawn.add("valid", "ordv", 2, lessBars(l.Valid, l.Bars))
		drawn.add("ticks", "odv", 1, l.Ticks)
		drawn.add("marks", "odvvvvs", 1, l.Marks)
	}
	drawn.add("faults", "vdrvvdv", 0, d.Faults)
	drawn.add("overlaps", "vvdrv", 0, d.Overlaps)
	drawn.add("stalls", "vdrd", 0, d.Stalls)
	drawn.add("bands", "drvv", 0, d.Bands)
	raw := d.Ops.pack(&h)
	h.Drawn, h.Raw = drawn.Tables, raw.Tables
	rest, err := json.Marshal(d.Strings[d.early:])
	if err != nil {
		return packs{}, err
	}
	p := packs{Head: h}
	if p.Drawn, err = drawn.text(); err != nil {
		return p, err
	}
	if p.Raw, err = raw.text(); err != nil {
		return p, err
	}
	p.Txt, err = deflated(rest)
	return p, err
}

// withEnds adds to each wait the operation that ended it; -1: none did. The page
// draws the latency from these, too.
func (d *drawer) withEnds(waits []int64) []int64 {
	var flat []int64
	for w := range slices.Chunk(waits, 4) {
		end, ok := d.Ended(int(w[2]))
		if !ok {
			end = -1
		}
		flat = append(append(flat, w...), int64(end))
	}
	return flat
}

// lessBars says when a validity ends by how long before its belief. Both are in the
// order of grants.
func lessBars(valid, bars []int64) []int64 {
	valid, at := slices.Clone(valid), 0
	for v := range slices.Chunk(valid, 4) {
		for bars[at+2] != v[2] {
			at += 4
		}
		v[1] = v[0] + bars[at+1] - v[1]
	}
	return valid
}

// exact is how large a token may be: JavaScript has all whole numbers up to 1<<53,
// and on the way there it is a difference, doubled.
const exact = 1 << 51

// pack writes the columns of the raw operations.
func (r *rawOps) pack(h *head) *packer {
	p := &packer{}
	p.add("node", "m", 0, r.Node)
	p.add("process", "v", 0, r.processes())
	p.add("type", "m", 0, r.Type)
	p.add("f", "m", 0, r.F)
	p.add("key", "m", 0, r.Key)
	p.add("owner", "m", 0, r.Owner)
	p.add("token", "v", 0, r.tokens(h))
	p.add("value", "m", 0, r.Value)
	p.add("grants", "dvda", 0, flattened(r.Grants, func(x [4]int64) []int64 { return x[:] }))
	p.add("copies", "dvmmmtvmmmt", 0, flattened(r.Copies, func(x [11]int64) []int64 { return x[:] }))
	p.add("errors", "dm", 0, flattened(r.Errors, func(x [2]int64) []int64 { return x[:] }))
	p.add("faults", "dvmmmm", 0, flattened(r.Faults, func(x [6]int64) []int64 { return x[:] }))
	p.add("lengths", "dv", 0, flattened(r.Lengths, func(x [2]int64) []int64 { return x[:] }))
	return p
}

// processes are told only where they are not those of the operation before on the
// same node.
func (r *rawOps) processes() []int64 {
	of := map[int64]int64{}
	all := make([]int64, len(r.Process))
	for i, p := range r.Process {
		all[i], of[r.Node[i]] = p-of[r.Node[i]], p
	}
	return all
}

// tokens are told only where they are not those of the operation before on the same
// grant: 0 for none, 1 for the same. One too large for JavaScript goes as text.
func (r *rawOps) tokens(h *head) []int64 {
	last, of := int64(0), map[int64]int64{}
	all := make([]int64, len(r.Token))
	for i, t := range r.Token {
		if t > exact || t < -exact {
			if h.Missing == nil {
				h.Missing = map[int]string{}
			}
			h.Missing[i], t = strconv.FormatInt(t, 10), 0
		}
		switch code := tokenCode(t, last); {
		case t == 0:
			continue
		case of[r.Owner[i]] == t:
			all[i] = 1
			continue
		case code > 0:
			all[i] = code + 1
		default:
			all[i] = code
		}
		last, of[r.Owner[i]] = t, t
	}
	return all
}

func flattened[T any](rows []T, of func(T) []int64) []int64 {
	var flat []int64
	for _, r := range rows {
		flat = append(flat, of(r)...)
	}
	return flat
}

// running sums differences up.
func running(deltas []int64) []int64 {
	all, sum := make([]int64, len(deltas)), int64(0)
	for i, d := range deltas {
		sum += d
		all[i] = sum
	}
	return all
}
