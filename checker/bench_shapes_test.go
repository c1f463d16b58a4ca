package checker

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/shapes"
)

// BenchmarkShapes prints how long the judgement of awkward histories takes, up to MOST
// operations (a million), and how that grows from each size to the next: near ten times.
func BenchmarkShapes(b *testing.B) {
	most := 1_000_000
	if text := os.Getenv("MOST"); text != "" {
		if _, err := fmt.Sscan(text, &most); err != nil {
			b.Fatal(err)
		}
	}
	fmt.Printf("\n%-28s %12s %12s %7s\n", "all properties, judging alone", "operations", "time", "ratio")
	for _, s := range shapes.All {
		if !strings.Contains(s.Name, os.Getenv("SHAPE")) {
			continue
		}
		before := time.Duration(0)
		for n := 10_000; n <= most; n *= 10 {
			setup, ops := s.Make(n)
			took := judging(b, setup, ops)
			ratio := ""
			if before > 0 {
				ratio = fmt.Sprintf("%.1f", float64(took)/float64(before))
			}
			fmt.Printf("%-28s %12d %12s %7s\n", s.Name, len(ops), took.Round(100*time.Microsecond), ratio)
			before = took
		}
	}
}

// judging is the processor time of a judgement, the least of a few.
func judging(t testing.TB, setup history.Setup, ops []history.Op) time.Duration {
	if err := history.Validate(setup, ops); err != nil {
		t.Fatal(err)
	}
	least := time.Hour
	for range 3 {
		runtime.GC()
		begun := processor(t)
		if result := Judge(setup, ops); len(result.Doubts) > 0 && strings.Contains(result.Doubts[0], "bug of dlmtest") {
			t.Fatal(result.Doubts[0])
		}
		if least = min(least, processor(t)-begun); least > 2*time.Second {
			break
		}
	}
	return least
}

// processor is the time that this process has had on the processors, so that what else
// the machine does counts less.
func processor(t testing.TB) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// The judge takes no square of a history's length, whatever its shape and kind: eight
// times as many operations take near eight times as long, and never sixty-four times.
func TestNearLinear(t *testing.T) {
	shared := []string{"grants that never end", "all clash on one key", "renewals of one grant", "changes of mode", "readers together"}
	for _, s := range shapes.All {
		kinds := []history.Kind{""}
		if slices.Contains(shared, s.Name) {
			kinds = append(kinds, history.ReadWrite, history.Semaphore)
		}
		for _, kind := range kinds {
			grown := 0.0
			for try := range 3 { // what else the machine does only adds
				small, large := judgingOf(t, s, kind, 5000<<try), judgingOf(t, s, kind, 40000<<try)
				if grown = large.Seconds() / max(small, 4*time.Millisecond).Seconds(); grown < 24 {
					break
				}
			}
			if grown >= 24 {
				t.Errorf("%s, kind %q: eight times the operations take %.0f times as long", s.Name, kind, grown)
			}
		}
	}
}

func judgingOf(t *testing.T, s shapes.Shape, kind history.Kind, n int) time.Duration {
	setup, ops := s.Make(n)
	if kind != "" {
		setup.Kind = kind
	}
	if setup.Kind == history.Semaphore {
		setup.Permits = 2
	}
	return judging(t, setup, ops)
}
