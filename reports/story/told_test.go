package story

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
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

// A key that is not granted at the end, or too late, is told from its last holder on: who waited since when, and the last fault before.
func TestStoryOfTheEnd(t *testing.T) {
	for name, want := range map[string][]string{
		"violated-never": {`acquires "k" with token 6`, `No client believes to hold "k"`, `client-3 waits for "k"`, "with nothing at fault", "gives up after waiting up to 6 s.", "was not granted it by the end"},
		"violated-late":  {`final waits for "k"`, "with nothing at fault", "the first grant in 6 s"},
	} {
		file, err := os.Open("../../checker/testdata/deadlock-freedom/" + name + ".jsonl")
		if err != nil {
			t.Fatal(err)
		}
		setup, ops, err := history.Decode(file)
		if err != nil {
			t.Fatal(err)
		}
		result := checker.Judge(setup, ops)
		told := string(tell(Of(setup, ops, result.Property("deadlock-freedom").Violations[0])))
		for _, w := range want {
			if !strings.Contains(told, w) {
				t.Errorf("%s: no step says %q:\n%s", name, w, told)
			}
		}
	}
}
