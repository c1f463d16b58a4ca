package protocol

import (
	"testing"
	"time"
)

// Answers of the usual length cost nothing, and whoever tells much has to tell it slowly.
func TestAllowance(t *testing.T) {
	now := time.Now()
	var a allowance
	for range 10_000_000 {
		if !a.take(120, false, now) {
			t.Fatal("an adapter that answers fast is said to flood")
		}
	}
	for n := 0; ; n++ {
		if !a.take(LineMax, true, now) {
			if n*LineMax < allowedAtOnce/2 || n*LineMax > allowedAtOnce {
				t.Errorf("stopped after %d bytes", n*LineMax)
			}
			break
		}
	}
	a = allowance{}
	for i := range 100_000 { // 200 kB a second, for an hour
		if !a.take(4<<10, i%2 == 0, now.Add(time.Duration(i)*20*time.Millisecond)) {
			t.Fatalf("stopped at line %d", i)
		}
	}
}
