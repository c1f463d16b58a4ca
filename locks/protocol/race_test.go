//go:build race

package protocol_test

// raced says that the race detector makes all of this several times slower.
const raced = true
