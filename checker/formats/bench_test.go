package formats

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/checker/models"
)

// BenchmarkEDN reads a million operations of EDN from a file and judges them as a mutex:
// the goal is 2.5 s and 400 MB. The same file is scanned for its lines in the same run.
func BenchmarkEDN(b *testing.B) {
	const operations = 1_000_000
	path := filepath.Join(b.TempDir(), "history.edn")
	var text bytes.Buffer
	for i := range operations / 2 {
		for j, end := range []string{":invoke, :f :acquire", ":ok, :f :acquire", ":invoke, :f :release", ":ok, :f :release"} {
			fmt.Fprintf(&text, "{:index %d, :time %d, :type %s, :value nil, :process %d, :owner \"c%[4]d\", :token %d}\n", 4*i+j, 1000*(4*i+j), end, i%20, i+1)
		}
	}
	size := text.Len()
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	text = bytes.Buffer{}
	for b.Loop() {
		begun := time.Now()
		all, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		lines := bytes.Count(all, []byte("\n"))
		scan := time.Since(begun)
		all = nil
		runtime.GC()
		begun = time.Now()
		held := judgeFileOf(b, path)
		took := time.Since(begun)
		fmt.Printf("%d operations of EDN (%d MB, %d lines): read and judged in %.2f s, heap of at most %d MB; read and counted alone %.2f s\n",
			operations, size>>20, lines, took.Seconds(), held>>20, scan.Seconds())
	}
}

func judgeFileOf(b *testing.B, path string) (most uint64) {
	file, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	r, err := Open(file, path, Options{})
	if err != nil {
		b.Fatal(err)
	}
	m, _ := models.Named("mutex")
	d := m.New(models.Options{})
	n := 0
	for e, err := range r.Events() {
		if err == nil {
			err = d.Add(e)
		}
		if err != nil {
			b.Fatal(err)
		}
		if n++; n%(1<<18) == 0 {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
		}
	}
	if result := d.End(); result.Verdict != models.Holds {
		b.Fatal(result.Reason)
	}
	return most
}
