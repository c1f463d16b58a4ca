//go:build ignore

// The adapters of pinned libraries: one file each, which is built with common.go, package
// adapter and one version of its library into a program and a module of its own. They are
// no part of dlmtest's own build, as each needs another module. This file goes into none.
package main
