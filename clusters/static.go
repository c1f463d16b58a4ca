package clusters

import (
	"debug/elf"
	"errors"
	"fmt"
)

// ErrLinked says that a program needs libraries of the machine that built it.
var ErrLinked = errors.New("it is linked to libraries of this machine, which a container has not, or has others of")

// static refuses a program that no container can run: one that was built with cgo, as go
// build and go test do where a C compiler is at hand.
func static(path string) error {
	f, err := elf.Open(path)
	if err != nil {
		return fmt.Errorf("agent binary %s: %w", path, err)
	}
	defer func() { _ = f.Close() }()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return fmt.Errorf("agent binary %s: %w; build it with CGO_ENABLED=0 (go test -race needs cgo: leave it out, or take the runtime local)", path, ErrLinked)
		}
	}
	return nil
}
