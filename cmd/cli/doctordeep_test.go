package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/runner/faultcheck"
)

// What doctor --deep exits with says whether every fault was measured and does what it says, and its words
// name what does not and what that spoils.
func TestDeepTells(t *testing.T) {
	good := faultcheck.Row{Runtime: "local", Kinds: []string{"pause"}, Fault: "pause of a client for 600ms", What: "nothing runs", Measured: "a gap of 602 ms", State: faultcheck.Agrees}
	bad, unseen := good, good
	bad.State, bad.Why = faultcheck.Disagrees, "daemon ran 3 times"
	unseen.State, unseen.Why = faultcheck.Unmeasured, "no time was left"
	for _, test := range []struct {
		name string
		row  faultcheck.Row
		exit int
		want []string
	}{
		{"good", good, exitHolds, []string{"✓ nothing runs: a gap of 602 ms", "✓ Every fault that was measured"}},
		{"bad", bad, exitFailed, []string{"✗ nothing runs: daemon ran 3 times", "✗ The fault pause does not do here what it says", "gc-pause", "proves nothing"}},
		{"unseen", unseen, exitInconclusive, []string{"not measured: no time was left"}},
	} {
		lines := faultcheck.Tally([]faultcheck.Row{test.row})
		d := deep{Runtime: "local", Measured: lines, Broken: faultcheck.BrokenOf(lines)}
		var text, asJSON bytes.Buffer
		if exit := exitWith(d.print(&text, false)); exit != test.exit {
			t.Errorf("%s: exit %d, want %d", test.name, exit, test.exit)
		}
		for _, want := range test.want {
			if !strings.Contains(text.String(), want) {
				t.Errorf("%s: %q is not in\n%s", test.name, want, &text)
			}
		}
		var back deep
		if err := d.print(&asJSON, true); exitWith(err) != test.exit || json.Unmarshal(asJSON.Bytes(), &back) != nil || len(back.Measured) != 1 || len(back.Broken) != len(d.Broken) {
			t.Errorf("%s: %v\n%s", test.name, err, &asJSON)
		}
	}
}
