package picture

import (
	"bytes"
	"fmt"
	"html/template"
	"image/color"
	"regexp"
	"strings"
)

// InPage is the picture as a part of a page, in the page's own colours, by day and by night. All text in it
// is escaped where it is drawn.
func (p *Picture) InPage() (template.HTML, error) {
	p.bare = true
	var b bytes.Buffer
	if err := p.SVG(&b); err != nil {
		return "", err
	}
	_, drawing, _ := strings.Cut(b.String(), "<svg ")
	_, drawing, _ = strings.Cut(drawing, ">") // its size is the page's business, and names no space
	names := map[string]string{}              // a drawing has few colours, however much is drawn
	drawing = hexColour.ReplaceAllStringFunc(drawing, func(found string) string {
		if names[found] == "" {
			names[found] = toneName(found)
		}
		return names[found]
	})
	return template.HTML(fmt.Sprintf(`<svg role="img" viewBox="0 0 %.0f %.0f">`, pictureWide, p.height()) + drawing), nil // of our own making
}

var hexColour = regexp.MustCompile(`(fill|stroke):#[0-9A-F]{6}`)

// toneName is a colour as the page names it: that of the nearest tone, since a drawing rounds them.
func toneName(found string) string {
	property, hex, _ := strings.Cut(found, ":")
	var is color.NRGBA
	if _, err := fmt.Sscanf(hex, "#%02X%02X%02X", &is.R, &is.G, &is.B); err != nil {
		return found
	}
	best, least := "", 1<<30
	for name, tone := range tones {
		d := func(a, b uint8) int { return (int(a) - int(b)) * (int(a) - int(b)) }
		if far := d(is.R, tone.R) + d(is.G, tone.G) + d(is.B, tone.B); far < least || far == least && name < best {
			best, least = name, far
		}
	}
	name := map[string]string{"faultwash": "fault", "lens": "accent"}[best]
	if name == "" {
		name = best
	}
	return property + ":var(--" + name + ")"
}
