package history

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"
)

// TestUnpack: a history is read as it is, packed, behind a mark, and from what cannot be wound back;
// and what was unpacked begins at its beginning.
func TestUnpack(t *testing.T) {
	setup, ops := sample(5)
	var plain, packed bytes.Buffer
	if err := Encode(&plain, setup, ops); err != nil {
		t.Fatal(err)
	}
	zip := gzip.NewWriter(&packed)
	_, _ = zip.Write(plain.Bytes())
	_ = zip.Close()
	for name, text := range map[string][]byte{"plain": plain.Bytes(), "packed": packed.Bytes(), "marked": append([]byte("\xef\xbb\xbf"), plain.Bytes()...)} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		unpacked, first, err := Unpack(file, 1)
		if err != nil || len(first) == 0 || first[0] != '{' {
			t.Fatalf("%s: %q, %v", name, first, err)
		}
		if same := unpacked == file; same != (name == "plain") {
			t.Errorf("%s is read from the file itself: %v", name, same)
		}
		if _, got, err := Decode(unpacked); err != nil || len(got) != len(ops) {
			t.Errorf("%s: %d operations, %v", name, len(got), err)
		}
		unpacked, _, err = Unpack(bytes.NewBuffer(text), 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, got, err := Decode(unpacked); err != nil || len(got) != len(ops) {
			t.Errorf("%s from a pipe: %d operations, %v", name, len(got), err)
		}
	}
	if _, first, err := Unpack(bytes.NewReader(nil), 1); err != nil || len(first) != 0 {
		t.Errorf("of an empty file %q, %v", first, err)
	}
	if _, _, err := Unpack(bytes.NewReader([]byte{0x1f, 0x8b, 1, 2}), 1); err == nil {
		t.Error("a damaged file is read")
	}
}
