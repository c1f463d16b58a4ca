//go:build ignore

// Command adapter is one version of a library behind the lock client protocol. Each file
// here but common.go is of one library; it is built with common.go, package adapter and
// that version into a module of its own, as each needs another. So none of them is part of
// dlmtest's own build, and this file of none at all.
package main
