package pages

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// unpacked reads the data of a page back: its head, and all its texts.
func unpacked(t *testing.T, page []byte) (head, []string) {
	t.Helper()
	var h head
	if err := json.Unmarshal(part(t, page, "data"), &h); err != nil {
		t.Fatalf("the data does not parse: %v", err)
	}
	var rest []string
	if err := json.Unmarshal(inflated(t, string(part(t, page, "strings"))), &rest); err != nil {
		t.Fatalf("the texts do not parse: %v", err)
	}
	for name, tables := range map[string][]packTable{"drawn": h.Drawn, "raw": h.Raw} {
		raw, n := inflated(t, string(part(t, page, name))), 0
		for _, table := range tables {
			n += table.Count * len(table.Modes)
		}
		for ; n > 0; n-- {
			_, used := binary.Varint(raw)
			if used <= 0 {
				t.Fatalf("%s: no number where one belongs", name)
			}
			raw = raw[used:]
		}
		if len(raw) > 0 {
			t.Errorf("%s: %d bytes too many", name, len(raw))
		}
	}
	return h, append(h.Strings, rest...)
}

func part(t *testing.T, page []byte, id string) []byte {
	t.Helper()
	_, rest, _ := bytes.Cut(page, []byte(`id="`+id+`">`))
	text, _, ok := bytes.Cut(rest, []byte("</script>"))
	if !ok {
		t.Fatalf("the page has no %s", id)
	}
	return text
}

func inflated(t interface{ Fatal(...any) }, text string) []byte {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	z, err := zlib.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// unpack is what unpack.js does, written a second time.
func unpack(raw []byte, table packTable, times []int64) []int64 {
	width := len(table.Modes)
	flat := make([]int64, table.Count*width)
	for c := range width {
		last := int64(0)
		var list []int64
		for k := c; k < len(flat); k += width {
			x, n := binary.Varint(raw)
			raw = raw[n:]
			switch table.Modes[c] {
			case 'd':
				last += x
				x = last
			case 't':
				if x > 0 {
					x--
				} else if x == 0 {
					continue
				}
				last += x
				x = last
			case 'm':
				if x < recentKept {
					at := int(x)
					x = list[at]
					list = slices.Delete(list, at, at+1)
				} else {
					z := x - recentKept
					last += z>>1 ^ -(z & 1)
					x = last
				}
				list = slices.Insert(list, 0, x)
				list = list[:min(len(list), recentKept)]
			}
			flat[k] = x
		}
	}
	for _, mode := range "xoeras" {
		for c, m := range table.Modes {
			for k := 0; m == mode && k < len(flat); k += width {
				row := flat[k : k+width]
				switch mode {
				case 'x':
					row[c] += row[table.Op]
				case 'o':
					row[c] += times[row[table.Op]]
				case 'e':
					if end := row[width-1]; end >= 0 {
						row[c] += times[end]
					}
				case 'r':
					row[c] += row[c-1]
				case 'a':
					row[c] -= row[1]
				case 's':
					row[c] = row[0] - row[c]
				}
			}
		}
	}
	return flat
}

func TestPackReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		times := rapid.SliceOfN(rapid.Int64Range(0, 1<<50), 1, 50).Draw(t, "times")
		op := rapid.Int64Range(0, int64(len(times)-1))
		for modes, at := range map[string]int{"v": 0, "oedvx": 2, "ordv": 2, "odvvvvs": 1, "vdrvvdv": 0, "dvda": 0, "dvmmmtvmmmt": 0, "m": 0} {
			var flat []int64
			for range rapid.IntRange(0, 120).Draw(t, "records") {
				for c, mode := range modes {
					switch {
					case mode == 'm':
						flat = append(flat, rapid.Int64Range(0, 100).Draw(t, "text"))
					case mode == 'x' || strings.ContainsAny(modes, "o") && c == at:
						flat = append(flat, op.Draw(t, "op"))
					default:
						flat = append(flat, rapid.Int64Range(-1<<50, 1<<50).Draw(t, "number"))
					}
				}
			}
			p := packer{times: times}
			p.add("table", modes, at, flat)
			if got := unpack(p.raw, p.Tables[0], times); !slices.Equal(got, flat) {
				t.Fatalf("%s: %v reads back as %v", modes, flat, got)
			}
		}
	})
}

func TestPackOfTokens(t *testing.T) {
	r := rawOps{Owner: []int64{1, 1, 2, 1, 2, 0, 3, 3}, Token: []int64{7, 7, 9, 7, 0, 0, math.MaxInt64, 1 << 50}}
	var h head
	if got, want := r.tokens(&h), []int64{9, 1, 4, 1, 0, 0, 0, 1<<50 - 9 + 2}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if h.Missing[6] != "9223372036854775807" {
		t.Errorf("the token that is too large became %q", h.Missing[6])
	}
}

func TestPackIsLetters(t *testing.T) {
	p := packer{}
	p.add("x", "v", 0, []int64{-60, 62, 1 << 40})
	text, err := p.text()
	if err != nil || strings.ContainsAny(string(text), "<>&\"'") || text == template.HTML("") {
		t.Errorf("%q, %v", text, err)
	}
}
