// Package start holds what dlmtest init writes beside an adapter: a Go module of its own, a gate file, a workflow.
package start

import "embed"

// Files are templates, for text/template; the name of each is that of the file it makes, and ".tmpl".
//
//go:embed *.tmpl
var Files embed.FS
