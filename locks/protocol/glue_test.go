package protocol_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/locks/protocol"
)

// The embedded Go side builds in a module of its own, with the standard library alone, and
// makes an adapter that says hello.
func TestGlueBuildsElsewhere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, protocol.Glue); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"go.mod": "module old\n\ngo 1.21\n",
		"main.go": `package main

import (
	"context"

	"old/adapter"
)

type lock struct{}

func (lock) Acquire(context.Context, adapter.Ask) (*adapter.Grant, error) { return &adapter.Grant{}, nil }
func (lock) Release(context.Context, *adapter.Grant) error               { return nil }
func (lock) Close() error                                                { return nil }

func main() {
	adapter.Main(adapter.Adapter{Name: "old", Library: "0.1", Open: func(context.Context, adapter.Config, adapter.Tell) (adapter.Session, error) {
		return lock{}, nil
	}})
}
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-o", "old", ".")
	build.Dir, build.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	c, err := protocol.Open(t.Context(), protocol.Command{Argv: []string{filepath.Join(dir, "old")}}, locks.Config{Client: "c"})
	if err != nil {
		t.Fatal(err)
	}
	if h := c.(protocol.Bare).Hello(); h.Name != "old" || h.Library != "0.1" {
		t.Errorf("hello %+v", h)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
