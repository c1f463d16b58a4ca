// Package golden compares what a test made with a file, and writes the file anew when the
// test is run with -update.
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
