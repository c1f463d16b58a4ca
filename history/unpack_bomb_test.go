package history

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"
)

// A small file that unpacks to a large text is refused, and one that is within its bounds is read whole.
func TestUnpackHasAnEnd(t *testing.T) {
	was := mostUnpacked
	t.Cleanup(func() { mostUnpacked = was })
	mostUnpacked = 1 << 20
	for size, fine := range map[int]bool{0: true, 1 << 20: true, 1<<20 + 1: false, 1 << 24: false} {
		var file bytes.Buffer
		w := gzip.NewWriter(&file)
		if _, err := w.Write(make([]byte, size)); err != nil || w.Close() != nil {
			t.Fatal(err)
		}
		text, _, err := Unpack(&file, 1)
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, text)
		if fine && (err != nil || n != int64(size)) || !fine && (err == nil || !strings.Contains(err.Error(), "gunzip")) {
			t.Errorf("%d bytes: %d read, %v", size, n, err)
		}
	}
}
