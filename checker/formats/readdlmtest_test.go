package formats

import (
	"strings"
	"testing"
)

// A fence that goes by another rule than its model is refused, and what was done outside is left out and counted.
func TestReadDlmtestParts(t *testing.T) {
	const (
		header = `{"dlmtest_history":1,"setup":{"promise":{"backend":"b"},"lease":1000000000,"keys":["k"],"clients":["c"],"fencing":"FENCING","fence_on":"ON","expect":{}}}` + "\n"
		invoke = `{"index":0,"time":1000,"node":"c","process":1,"type":"invoke","f":"effect","key":"k","owner":"o","token":1,"value":"e","unfenced":{"value":"run slot 1"},"fenced":{"value":"run slot 1"}}` + "\n"
		done   = `{"index":1,"time":2000,"node":"c","process":1,"type":"ok","f":"effect","key":"k","owner":"o","token":1,"value":"e"}` + "\n"
	)
	for _, c := range []struct {
		fencing, on, part string
		want              string // in the error
	}{
		{"at-least", "write", PartFenced, "only 2 effects"},
		{"at-least", "read", PartFenced, "fence_on is read"},
		{"strict", "write", PartFenced, "fencing is strict"},
		{"strict", "read", PartUnfenced, "only 2 effects"},
		{"strict", "read", PartLock, "only 2 effects"},
	} {
		text := strings.NewReplacer("FENCING", c.fencing, "ON", c.on).Replace(header) + invoke + done
		if _, _, _, err := drain(strings.NewReader(text), Options{Part: c.part}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
