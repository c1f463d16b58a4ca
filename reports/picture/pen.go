package picture

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"html"
	"image/color"
	"io"
	"math"
	"strings"
	"sync"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	xfont "golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/dlmtest/dlmtest/internal/visible"
)

// tones are the colours of a picture: those of the page by day.
var tones = map[string]color.NRGBA{
	"paper": {255, 255, 255, 255}, "ink": {0x1b, 0x1f, 0x24, 255}, "muted": {0x66, 0x71, 0x80, 255}, "line": {0xe3, 0xe7, 0xec, 255},
	"wait": {0xb4, 0xbe, 0xc9, 255}, "belief": {0x8d, 0xb4, 0xd9, 255}, "valid": {0x2a, 0x6a, 0xa8, 255}, "overlap": {0xd0, 0x30, 0x1b, 255},
	"fault": {0xe8, 0xa3, 0x17, 110}, "faultwash": {0xe8, 0xa3, 0x17, 40}, "faultline": {0x8a, 0x5a, 0x00, 255},
	"lens": {0x1f, 0x5f, 0xbf, 22}, "good": {0x0b, 0x7a, 0x5b, 255},
}

// pictureFont is the font of pictures, Liberation Sans, which has the widths of Arial.
var pictureFont = sync.OnceValue(func() *font.Cache {
	var all font.Collection
	for weight, ttf := range map[xfont.Weight][]byte{xfont.WeightNormal: liberationsansregular.TTF, xfont.WeightBold: liberationsansbold.TTF} {
		face, err := opentype.Parse(ttf)
		if err != nil {
			panic("reports: " + err.Error()) // it is part of the program
		}
		all = append(all, font.Face{Font: font.Font{Typeface: "Liberation", Variant: "Sans", Weight: weight}, Face: face})
	}
	return font.NewCache(all)
})

// picturePen draws with the origin at the top left, as pages do; vg has it at the bottom.
type picturePen struct {
	c      vg.Canvas
	height float64
}

func (d *picturePen) at(x, y float64) vg.Point {
	return vg.Point{X: vg.Length(x), Y: vg.Length(d.height - y)}
}

func (d *picturePen) rect(x, y, w, h float64, tone string) {
	d.shape(tone, x, y, x+w, y, x+w, y+h, x, y+h)
}

// shape fills a polygon of x and y in turn.
func (d *picturePen) shape(tone string, xy ...float64) {
	var p vg.Path
	p.Move(d.at(xy[0], xy[1]))
	for i := 2; i < len(xy); i += 2 {
		p.Line(d.at(xy[i], xy[i+1]))
	}
	p.Close()
	d.c.SetColor(tones[tone])
	d.c.Fill(p)
}

func (d *picturePen) line(x1, y1, x2, y2, wide float64, tone string) {
	d.strokes(wide, tone, [2]vg.Point{d.at(x1, y1), d.at(x2, y2)})
}

func (d *picturePen) strokes(wide float64, tone string, lines ...[2]vg.Point) {
	var p vg.Path
	for _, l := range lines {
		p.Move(l[0])
		p.Line(l[1])
	}
	d.c.SetColor(tones[tone])
	d.c.SetLineWidth(vg.Length(wide))
	d.c.Stroke(p)
}

func (d *picturePen) dashed(x1, y1, x2, y2, wide float64, tone string) {
	d.c.SetLineDash([]vg.Length{4, 3}, 0)
	d.line(x1, y1, x2, y2, wide, tone)
	d.c.SetLineDash(nil, 0)
}

func (d *picturePen) disc(x, y, r float64, tone string) {
	var p vg.Path
	p.Move(d.at(x+r, y))
	p.Arc(d.at(x, y), vg.Length(r), 0, 2*math.Pi)
	p.Close()
	d.c.SetColor(tones[tone])
	d.c.Fill(p)
}

// decided draws what a copy made of a write: a tick on a disc or a cross; a late one
// has a ring. 0: there was no such write.
func (d *picturePen) decided(x, y float64, outcome int64, late bool) {
	if outcome == 0 {
		return
	}
	if late {
		d.disc(x, y, 9.5, "overlap")
		d.disc(x, y, 7.6, "paper")
	}
	if outcome == 1 {
		d.disc(x, y, 5.6, "good")
		d.strokes(1.4, "paper", [2]vg.Point{d.at(x-2.6, y+0.2), d.at(x-0.7, y+2.2)}, [2]vg.Point{d.at(x-0.9, y+2.2), d.at(x+2.8, y-2.2)})
		return
	}
	d.strokes(2, "overlap", [2]vg.Point{d.at(x-4, y-4), d.at(x+4, y+4)}, [2]vg.Point{d.at(x-4, y+4), d.at(x+4, y-4)})
}

func face(size float64, bold bool) font.Face {
	f := font.Font{Typeface: "Liberation", Variant: "Sans"}
	if bold {
		f.Weight = xfont.WeightBold
	}
	return pictureFont().Lookup(f, vg.Length(size))
}

func (d *picturePen) wide(size float64, bold bool, text string) float64 {
	f := face(size, bold)
	return float64(f.Width(drawable(text)))
}

func (d *picturePen) text(x, y, size float64, bold bool, tone, text string) {
	d.c.SetColor(tones[tone])
	d.c.FillString(face(size, bold), d.at(x, y), drawable(text))
}

func (d *picturePen) textRight(x, y, size float64, bold bool, tone, text string) {
	d.text(x-d.wide(size, bold, text), y, size, bold, tone, text)
}

func (d *picturePen) textCentre(x, y, size float64, bold bool, tone, text string) {
	d.text(x-d.wide(size, bold, text)/2, y, size, bold, tone, text)
}

// drawable leaves out of a text what XML does not allow.
func drawable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == 0xfffe || r == 0xffff || r == 0xfffd {
			return '·'
		}
		return r
	}, visible.Line(s))
}

// fontFamily names fonts of the same widths for machines that have no Liberation Sans.
// The font itself is not embedded: it would be 25 times the rest, and the programs for
// slides do not look at it.
const fontFamily = "font-family:'Liberation Sans',Arial,Helvetica,sans-serif;"

// SVG writes the picture as SVG.
func (p *Picture) SVG(w io.Writer) error {
	c := vgsvg.New(pictureWide, vg.Length(p.height()))
	p.draw(c)
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return err
	}
	text := strings.ReplaceAll(b.String(), "font-family:Liberation Sans;", fontFamily)
	head := fmt.Sprintf("\n<title>%s</title>\n<desc>%s</desc>\n<metadata>dlmtest</metadata>\n",
		html.EscapeString(drawable(p.title)), html.EscapeString(drawable(p.caption)))
	const root = `xmlns:xlink="http://www.w3.org/1999/xlink">`
	_, err := io.WriteString(w, strings.Replace(text, root, root+head, 1))
	return err
}

// dotsPerInch makes a picture 2,560 points wide.
const dotsPerInch = 192

// PNG writes the picture as PNG.
func (p *Picture) PNG(w io.Writer) error {
	c := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(pictureWide, vg.Length(p.height())), vgimg.UseDPI(dotsPerInch))}
	p.draw(c)
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return err
	}
	_, err := w.Write(withSign(b.Bytes()))
	return err
}

// withSign adds to a PNG that dlmtest made it: a chunk of text behind the header.
func withSign(png []byte) []byte {
	const header = 8 + 4 + 4 + 13 + 4 // signature, then the chunk IHDR
	chunk := []byte("tEXtSoftware\x00dlmtest")
	out := append([]byte{}, png[:header]...)
	out = binary.BigEndian.AppendUint32(out, uint32(len(chunk)-4))
	out = append(out, chunk...)
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(chunk))
	return append(out, png[header:]...)
}
