//go:build race

// Package raced tells whether the race detector watches: it makes all of this several times slower, and takes
// several times the memory.
package raced

// Detector says that it watches.
const Detector = true
