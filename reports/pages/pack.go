package pages

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"html/template"
	"slices"
)

// packer writes tables of numbers so small that a million operations fit into a
// page: column by column, as varints of what is left to say when the one before is
// known, then deflated. data.js reads them back.
type packer struct {
	Tables []packTable `json:"tables"`
	times  []int64     // of the operations, for columns that hang on them
	raw    []byte
}

// packTable names one table in the order in which they lie in the pack. Each letter of
// Modes says how its column is written:
//
//	v  as it is
//	d  less the record before
//	t  0, or less the last that was not 0
//	r  less the column before in the same record
//	a  with the second column added
//	s  taken from the first column
//	o  less the time of the operation in the column Op
//	e  less the time of the operation in the last column, if there is one
//	x  less the column Op
//	m  text: how long ago it was last used; see recent
type packTable struct {
	Name  string `json:"name"`
	Modes string `json:"modes"`
	Op    int    `json:"op,omitempty"`
	Count int    `json:"count"`
}

// add writes the records of a flat array.
func (p *packer) add(name, modes string, op int, flat []int64) {
	width := len(modes)
	p.Tables = append(p.Tables, packTable{name, modes, op, len(flat) / width})
	for c := range width {
		last, used := int64(0), recent{}
		for row := range slices.Chunk(flat, width) {
			x := row[c]
			switch modes[c] {
			case 'd':
				x, last = x-last, x
			case 't':
				x, last = tokenCode(x, last), cmp.Or(x, last)
			case 'r':
				x -= row[c-1]
			case 'a':
				x += row[1]
			case 's':
				x = row[0] - x
			case 'o':
				x -= p.times[row[op]]
			case 'e':
				if end := row[width-1]; end >= 0 {
					x -= p.times[end]
				}
			case 'x':
				x -= row[op]
			case 'm':
				x = used.code(x)
			}
			p.raw = binary.AppendVarint(p.raw, x)
		}
	}
}

// tokenCode is 0 for none, else the distance to the last token, with 0 left free.
func tokenCode(x, last int64) int64 {
	switch d := x - last; {
	case x == 0:
		return 0
	case d >= 0:
		return d + 1
	default:
		return d
	}
}

// recentKept is how many texts a column remembers.
const recentKept = 64

// recent writes a text as its place among those last used, most recent first: few
// clients act at once, so it is nearly always a small number. One that is not among
// them is its distance to the last such.
type recent struct {
	list []int64
	last int64
}

func (r *recent) code(x int64) int64 {
	at := slices.Index(r.list, x)
	code := int64(at)
	if at < 0 {
		code, r.last = zigzag(x-r.last)+recentKept, x
		if at = len(r.list); at < recentKept {
			r.list = append(r.list, x)
		} else {
			at--
		}
	}
	copy(r.list[1:at+1], r.list[:at])
	r.list[0] = x
	return code
}

func zigzag(x int64) int64 { return x<<1 ^ x>>63 }

// text is the pack as it stands in the page: of letters that mean nothing in HTML.
func (p *packer) text() (template.HTML, error) { return deflated(p.raw) }

func deflated(raw []byte) (template.HTML, error) {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	if _, err := z.Write(raw); err != nil {
		return "", err
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	return template.HTML(base64.StdEncoding.EncodeToString(b.Bytes())), nil
}
