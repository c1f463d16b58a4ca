package protocol

import "embed"

// Glue is the source of package adapter, to be built beside a library in a module of
// its own.
//
//go:embed adapter/*.go
var Glue embed.FS
