package story

import (
	"testing"

	"github.com/dlmtest/dlmtest/reports/sample"
)

// What happened to the data is told before what let it happen.
func TestDamageIsToldFirst(t *testing.T) {
	r := sample.GCPause(true, 14)
	if name, _, _ := First(r.Result); name != "no-lost-update/unfenced" {
		t.Errorf("told first is %s", name)
	}
}
