package libraries

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dlmtest/dlmtest/locks/protocol"
)

// The classes that are compiled once speak as the source that each client would compile.
func TestCompiledAdapterSpeaks(t *testing.T) {
	folder, err := Compiled(t.Context(), "curator-rw")
	if err != nil || folder == "" {
		t.Fatalf("folder %q, %v", folder, err)
	}
	if again, err := Compiled(t.Context(), "curator"); again != folder || err != nil {
		t.Errorf("another lock of the same file is in %q, not in %q; %v", again, folder, err)
	}
	argv, ok := compiled(folder, "Curator.java")
	if !ok || argv[len(argv)-1] != "Curator" {
		t.Fatalf("starts %q, %v", argv, ok)
	}
	if argv, ok := compiled(t.TempDir(), "Curator.java"); ok {
		t.Errorf("starts %q, which is not there", argv)
	}
	if argv, ok := compiled(folder, "kazoo_lock.py"); ok {
		t.Errorf("starts %q for a program that needs no compiler", argv)
	}
	c, err := protocol.Dial(t.Context(), protocol.Command{Argv: append(argv, "rw")}, func(*protocol.Conn, protocol.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Drop() }()
	if says := c.Hello(); !slices.Contains(says.Offers, "shared") {
		t.Errorf("the compiled adapter says %+v", says)
	}
}

func TestLibrariesWithoutJavaHaveNothingCompiled(t *testing.T) {
	for _, library := range []string{"kazoo", "redsync", "redsync@v4.0.3", ""} {
		if folder, err := Compiled(t.Context(), library); folder != "" || err != nil {
			t.Errorf("%s: %q, %v", library, folder, err)
		}
	}
}

// Without a compiler each client compiles for itself.
func TestNoCompiler(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if folder, err := Compiled(t.Context(), "curator"); folder != "" || err != nil {
		t.Errorf("%q, %v", folder, err)
	}
}

// What was half compiled is not kept.
func TestCompileFails(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := compile(t.Context(), "javac", dir, "Bad.java", []byte("class Bad {")); err == nil {
		t.Error("no error of javac")
	}
}
