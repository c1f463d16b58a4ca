package story

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/reports/sample"
)

func TestStory(t *testing.T) {
	for name, r := range map[string]sample.Report{"redlock": sample.GCPause(false, 14), "redis": sample.GCPause(true, 14)} {
		for _, p := range r.Result.Properties {
			for i, v := range p.Violations {
				var b bytes.Buffer
				for n, s := range Of(r.Setup, r.Ops, v) {
					fmt.Fprintf(&b, "%d %s %s@%s [%s %d] %s\n", n+1, s.At, s.Who, s.Node, s.Kind, s.Op, s.What)
				}
				sample.Same(t, fmt.Sprintf("story-%s-%s-%d.txt", name, strings.ReplaceAll(p.Name, "/", "-"), i), b.Bytes())
			}
		}
	}
}

// What happened to the data is told before what let it happen.
func TestDamageIsToldFirst(t *testing.T) {
	r := sample.GCPause(true, 14)
	if name, _, _ := First(r.Result); name != "no-lost-update/unfenced" {
		t.Errorf("told first is %s", name)
	}
}
