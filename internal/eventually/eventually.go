// Package eventually is how tests wait for what comes by itself: far longer than it ever takes,
// as a wait costs time only where something is wrong, and other programs want the machine, too.
package eventually

import (
	"testing"
	"time"
)

// Most is far more than anything takes that a test waits for.
const Most = time.Minute

// True waits until is says yes, and fails the test at once if that does not come.
func True(t testing.TB, what string, is func() bool) {
	t.Helper()
	end, pause := time.Now().Add(Most), time.Millisecond
	for !is() {
		if time.Now().After(end) {
			t.Fatalf("waited for %v in vain: %s", Most, what)
		}
		time.Sleep(pause)
		pause = min(2*pause, 100*time.Millisecond)
	}
}
