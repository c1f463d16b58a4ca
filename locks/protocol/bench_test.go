package protocol_test

import (
	"slices"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/locks/protocol"
)

// BenchmarkCall is what the protocol adds to a call: the time of one, try or release, of
// a lock that costs next to nothing, in this process and as an adapter written in Go.
func BenchmarkCall(b *testing.B) {
	config := locks.Config{Lease: time.Minute, Client: "c"}
	inProcess, err := locks.NewMemory().Open(b.Context(), config)
	if err != nil {
		b.Fatal(err)
	}
	byAdapter, err := protocol.Open(b.Context(), protocol.Command{Argv: []string{self()}, Env: []string{asAdapter + "=good"}}, config)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("in-process", func(b *testing.B) { calls(b, inProcess) })
	b.Run("adapter", func(b *testing.B) { calls(b, byAdapter) })
	if err := byAdapter.Close(); err != nil {
		b.Fatal(err)
	}
}

func calls(b *testing.B, c locks.Client) {
	var took []time.Duration
	for b.Loop() {
		begun := time.Now()
		g, err := c.(locks.Trier).Try(b.Context(), "k")
		if err != nil {
			b.Fatal(err)
		}
		between := time.Now()
		if err := c.Release(b.Context(), g); err != nil {
			b.Fatal(err)
		}
		took = append(took, between.Sub(begun), time.Since(between))
	}
	slices.Sort(took)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e3, "µs/call-p50")
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1e3, "µs/call-p99")
}
