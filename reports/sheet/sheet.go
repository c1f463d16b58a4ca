// Package sheet has what all pages of dlmtest share: their look, and the rule that a page runs and
// shows nothing but what it was written with.
package sheet

import (
	"crypto/sha256"
	_ "embed" // the styles
	"encoding/base64"
)

var (
	//go:embed page.css
	pageCSS string
	//go:embed figures.css
	figuresCSS string
)

// Style is the look of every page.
var Style = pageCSS + figuresCSS

// Policy lets a page run this script, and show nothing from elsewhere.
func Policy(script string) string {
	sum := sha256.Sum256([]byte(script))
	return "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
