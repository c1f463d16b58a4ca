package clusters

import (
	"errors"
	"os"
	"testing"
)

func TestStatic(t *testing.T) {
	if err := static("/bin/sh"); !errors.Is(err, ErrLinked) {
		t.Errorf("a shell that needs libc: %v", err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// This test is itself built with and without cgo.
	if err := static(self); err != nil && !errors.Is(err, ErrLinked) {
		t.Error(err)
	}
	if err := static("static_test.go"); err == nil || errors.Is(err, ErrLinked) {
		t.Errorf("no program at all: %v", err)
	}
}
