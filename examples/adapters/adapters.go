// Package adapters holds adapters of real lock libraries in other languages for the
// lock client protocol, each one file that needs no build: templates for your own.
// docs/protocol.md explains them.
package adapters

import "embed"

// Files are the adapters, as they are given to client nodes.
//
//go:embed *.py *.java
var Files embed.FS
