package clusters

import (
	"context"
	"debug/buildinfo"
	"debug/elf"
	"errors"
	"fmt"
	"path"
	"path/filepath"

	"github.com/dlmtest/dlmtest/internal/gobuild"
)

// ErrLinked says that a program needs libraries of the machine that built it.
var ErrLinked = errors.New("it is linked to libraries of this machine, which a container has not, or has others of")

// static refuses a program that no container can run: one that was built with cgo, as go
// build and go test do where a C compiler is at hand.
func static(program string) error {
	f, err := elf.Open(program)
	if err != nil {
		return fmt.Errorf("agent binary %s: %w", program, err)
	}
	defer func() { _ = f.Close() }()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return fmt.Errorf("agent binary %s: %w; build it with CGO_ENABLED=0 (go test -race needs cgo: leave it out, or take the runtime local)",
				program, ErrLinked)
		}
	}
	return nil
}

// Portable returns a program that containers can run: the one at a path, or the same
// package of the same module version, built again without cgo. go install links to the C
// library wherever a C compiler is at hand. Only what was installed as a version can be
// built again, for its source is known; of the rest the error is ErrLinked.
func Portable(ctx context.Context, program string, progress func(line string)) (string, error) {
	linked := static(program)
	if !errors.Is(linked, ErrLinked) {
		return program, linked
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil || info.Main.Sum == "" { // built in a checkout
		return "", linked
	}
	name := path.Base(info.Path)
	folder, err := gobuild.Build(ctx, gobuild.Program{Name: name + "-" + info.Main.Version,
		Requires: []string{info.Main.Path + " " + info.Main.Version},
		Binaries: map[string]string{name: info.Path}}, progress)
	if err != nil {
		return "", fmt.Errorf("%w; building it again: %w", linked, err)
	}
	return filepath.Join(folder, name), nil
}
