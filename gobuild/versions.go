package gobuild

import (
	"context"
	"os"
	"strings"
)

// Versions are those of a module that its proxy knows, the oldest first, with those that
// its author has taken back; none: there is no such module, or none has a tag.
func Versions(ctx context.Context, module string) ([]string, error) {
	dir, err := os.MkdirTemp("", "dlmtest-versions-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := (Program{}).Write(dir); err != nil {
		return nil, err
	}
	out, err := Command(ctx, dir, "list", "-m", "-versions", "-retracted", "-f", "{{range .Versions}}{{.}} {{end}}", module)
	return strings.Fields(string(out)), err
}
