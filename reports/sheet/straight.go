package sheet

import (
	"bytes"
	"io"

	"github.com/dlmtest/dlmtest/internal/visible"
)

// straight replaces what would turn the direction of the text that follows, or is not seen.
func straight(r rune) rune {
	if visible.Hidden(r) {
		return visible.Dot
	}
	return r
}

// Straight writes a page without such marks: a template escapes what would be
// markup, and a name may still turn the words of a verdict around. Each part of a page
// comes in one piece.
type Straight struct{ io.Writer }

// Write writes one part of a page.
func (w Straight) Write(p []byte) (int, error) {
	if _, err := w.Writer.Write(bytes.Map(straight, p)); err != nil {
		return 0, err
	}
	return len(p), nil
}
