package checker

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/dlmtest/dlmtest/history"
)

// BenchmarkDecodeFile reads the histories of BenchmarkJudge from a file, as dlmtest check does.
func BenchmarkDecodeFile(b *testing.B) {
	for _, n := range []int{1e4, 1e5, 1e6} {
		for _, c := range []struct {
			name             string
			unknown, zombies int
		}{{"valid", 0, 0}, {"unknown", 10, 0}, {"zombies", 3, n / 1000}} {
			path, count := writeRealistic(b, n, c.unknown, c.zombies)
			b.Run(fmt.Sprintf("%d/%s", n, c.name), func(b *testing.B) {
				for b.Loop() {
					decodeFile(b, path, count)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(count), "ns/operation")
			})
		}
	}
}

func writeRealistic(b *testing.B, n, unknown, zombies int) (path string, count int) {
	setup, ops := realistic(n, 20, 1, unknown, zombies, 7)
	path = filepath.Join(b.TempDir(), "history.jsonl")
	file, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	if err := history.Encode(file, setup, ops); err != nil {
		b.Fatal(err)
	}
	return path, len(ops)
}

func decodeFile(b *testing.B, path string, count int) {
	file, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	if _, ops, err := history.Decode(file); err != nil || len(ops) != count {
		b.Fatalf("%d operations of %d: %v", len(ops), count, err)
	}
}
