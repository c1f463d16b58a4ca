// Package golden is what tests do with files: it compares what a test made with one, writes that anew when the
// test is run with -update, and holds folders.
package golden

import (
	"bytes"
	"flag"
	"os"
	"testing"
)

// Update says that the files are to be written anew.
var Update = flag.Bool("update", false, "write the golden files anew")

// Compare fails the test where got differs from the file at path.
func Compare(t testing.TB, path string, got []byte) {
	t.Helper()
	if *Update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; if it is right, go test -update writes it anew:\n%s", path, got)
	}
}

// Root holds a folder for the length of a test.
func Root(t testing.TB, dir string) *os.Root {
	t.Helper()
	in, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close() })
	return in
}
