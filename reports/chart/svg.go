package chart

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"image/color"
	"regexp"
	"slices"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A chart is drawn by gonum/plot as SVG, which needs no script, prints, and scales.
// It writes colours as numbers; each of ours stands for a variable of the page,
// which takes its place, so that a chart follows the reader's light or dark.

// Ink is a colour of the page, by the name of its CSS variable.
type Ink string

var inks = []Ink{"ink", "muted", "line", "wait", "belief", "valid", "overlap", "fault", "faultline", "unfenced",
	"fenced", "p50", "p99", "good", "bad", "accent"}

// RGBA is the number that stands for the colour until the SVG is written. No page
// has this magenta.
func (k Ink) RGBA() (r, g, b, a uint32) { return k.number(0x37).RGBA() }

// shade is the colour, as a veil over what lies beneath.
func (k Ink) shade() color.Color { return k.number(0x38) }

func (k Ink) number(kind uint8) color.Color {
	i := slices.Index(inks, k)
	if i < 0 {
		panic("reports: no colour " + string(k))
	}
	return color.NRGBA{0xd1, kind, uint8(i), 0xff}
}

var (
	tinted = regexp.MustCompile(`(fill|stroke):#D1(37|38)([0-9A-F]{2})`)
	undone = regexp.MustCompile(` d="[^"]*(NaN|Inf)`)
	fonts  = regexp.MustCompile(`font-family:[^;]*;font-variant:[^;]*;font-weight:[^;]*;font-style:[^;]*;`)
	header = regexp.MustCompile(`(?s)^.*?<svg[^>]*>`)
)

// SVG is the chart as a piece of the page. Its text alternative stands beside it:
// the sentence that describedBy names, and the table.
func (c *Chart) SVG(label, describedBy string) (template.HTML, error) {
	if c.Until > 0 {
		c.X.Min, c.X.Max = 0, c.Until
	}
	canvas := vgsvg.NewWith(vgsvg.UseWH(Width, vg.Length(c.height)))
	c.Draw(draw.New(canvas))
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return "", err
	}
	s := header.ReplaceAllString(b.String(), "")
	if undone.MatchString(s) {
		return "", errors.New("a value of the chart is not a number")
	}
	s = fonts.ReplaceAllString(s, "")
	s = tinted.ReplaceAllStringFunc(s, func(m string) string {
		at := tinted.FindStringSubmatch(m)
		i, err := strconv.ParseUint(at[3], 16, 8)
		if err != nil || int(i) >= len(inks) {
			return m
		}
		tint := at[1] + ":var(--" + string(inks[i]) + ")"
		if at[2] == "38" {
			tint += ";" + at[1] + "-opacity:0.2"
		}
		return tint
	})
	open := fmt.Sprintf(`<svg viewBox="0 0 %d %g" role="img" aria-label="%s" aria-describedby="%s">`, Width, c.height,
		template.HTMLEscapeString(label), template.HTMLEscapeString(describedBy))
	return template.HTML(open + s), nil
}
