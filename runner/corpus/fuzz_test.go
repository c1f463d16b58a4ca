package corpus

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// Whatever stands in a record, it is an error or a page; and what is written is read back.
func FuzzRead(f *testing.F) {
	own, err := os.ReadFile("../../docs/corpus.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(own)
	for _, text := range []string{"", "null", "[]", `{"tracks":[{}]}`, `{"tracks":[{"entry":"redsync-extend-deletes","affected":{"runs":-1,"found":9223372036854775807}}]}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "corpus.json")
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		r, err := Read(path)
		if err != nil {
			return
		}
		for _, e := range Names() {
			r.Put(Track{Entry: e, Runtime: "local"})
		}
		var page, again bytes.Buffer
		if err := Markdown(&page, r); err != nil {
			t.Fatal(err)
		}
		if err := save(path, r.Write); err != nil {
			t.Fatal(err)
		}
		if r, err = Read(path); err != nil {
			t.Fatal(err)
		}
		if err := Markdown(&again, r); err != nil || !bytes.Equal(page.Bytes(), again.Bytes()) {
			t.Errorf("%v: another page after it was written and read", err)
		}
	})
}
