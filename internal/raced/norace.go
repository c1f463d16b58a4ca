//go:build !race

package raced

// Detector says that it watches.
const Detector = false
