//go:build race

// Package raced tells tests whether the race detector watches them: it makes all of this several times slower, and takes
// several times the memory.
package raced

// Detector says that it watches.
const Detector = true
