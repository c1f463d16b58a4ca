package gobuild

import (
	"context"
	"strings"

	"github.com/dlmtest/dlmtest/internal/scratch"
)

// Versions are those of a module that its proxy knows, the oldest first, with those that
// its author has taken back; none: there is no such module, or none has a tag.
func Versions(ctx context.Context, module string) ([]string, error) {
	aside, err := scratch.New("versions")
	if err != nil {
		return nil, err
	}
	defer aside.Remove()
	if err := (Program{}).Write(aside.Path); err != nil {
		return nil, err
	}
	out, err := Command(ctx, aside.Path, "list", "-m", "-versions", "-retracted", "-f", "{{range .Versions}}{{.}} {{end}}", module)
	return strings.Fields(string(out)), err
}
