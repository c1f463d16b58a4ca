package power

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
)

var (
	each = flag.Int("each", 4, "histories of each row, and of each sound service")
	page = flag.String("page", "", "the file that the tables are written to")
	only = flag.String("only", "", "rows whose defect contains this")
)

// figures are what came of a row.
type figures struct {
	planted, caught, other int
	missed                 []uint64 // seeds
}

func (f figures) share() float64 {
	if f.planted == 0 {
		return 1
	}
	return float64(f.caught) / float64(f.planted)
}

// violated are the properties that the judge finds violated.
func violated(t *testing.T, with setting, seed uint64) (names []string, planted int, r checker.Result) {
	t.Helper()
	setup, ops, planted := simulate(with, seed)
	if err := history.Validate(setup, ops); err != nil {
		t.Fatalf("%+v seed %d: %v", with, seed, err)
	}
	r = checker.Judge(setup, ops)
	for _, p := range r.Properties {
		if p.Verdict == checker.Violated {
			names = append(names, p.Name)
		}
	}
	return names, planted, r
}

func (row row) play(t *testing.T, n int) (f figures) {
	with := row.with
	with.defect = row.defect
	for seed := uint64(1); f.planted < n && seed < uint64(4*n+40); seed++ {
		names, planted, _ := violated(t, with, seed)
		if planted == 0 {
			continue
		}
		f.planted++
		switch {
		case slices.ContainsFunc(names, func(name string) bool { return slices.Contains(row.by, name) }):
			f.caught++
		default:
			if len(names) > 0 {
				f.other++
			}
			f.missed = append(f.missed, seed)
		}
	}
	return f
}

// TestPower plants each defect and counts how often the judge sees it, and how often it
// accuses a sound service. A row of which less than 95 % is caught says why.
func TestPower(t *testing.T) {
	table := planted(t)
	n, red := sound(t)
	if red > 0 {
		t.Errorf("%d false reds in %d histories of sound services", red, n)
	}
	if *page == "" {
		return
	}
	text := fmt.Sprintf(head, table, n, red)
	if err := os.WriteFile(*page, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// head is docs/judge.md, of which the figures are filled in.
const head = `# What the judge can see

A simulated lock service, its clients, their network and a guarded resource (checker/power) make histories of which the
truth is known, as the simulator is the server. Each row plants one defect once in a history; it counts where it took
effect, and is caught where one of the properties is violated. Written by ` + "`make judge-power`" + `; do not edit it here.

| defect | what the service does | judged by | caught | why not all |
|---|---|---|---|---|
%s
## False reds

%d histories of sound services of every kind, with and without leases, tokens and the time of sending, without a fault and
with clients that forget to renew, pauses, kills, cuts, delays, losses, bent clocks, a server that stops or starts again, and
the loss of one server of three: %d in which a property of the service is violated. A stopped client breaks
mutual-exclusion and the unfenced copy with a sound service as well, so these are not counted under a fault; nor is
availability of a lock without a lease, whose stopped holder keeps everybody waiting.
`

// planted is the table of the defects.
func planted(t *testing.T) string {
	var table strings.Builder
	for _, row := range rows {
		if !strings.Contains(row.defect, *only) {
			continue
		}
		f := row.play(t, *each)
		mark := ""
		if f.share() < .95 {
			mark = row.why
			if row.why == "" {
				mark = "**open**"
			}
		}
		fmt.Fprintf(&table, "| %s | %s | %s | %d of %d | %s |\n", row.defect, row.about, strings.Join(row.by, ", "), f.caught, f.planted, mark)
		if f.share() < .95 && row.why == "" && f.planted >= 20 {
			t.Errorf("%s: %d of %d caught, and nothing says why", row.about, f.caught, f.planted)
		}
		t.Logf("%-16s %-44s %3d of %3d  other %d  missed %v", row.defect, fmt.Sprintf("%s%v sent=%v %s", row.with.kind, row.with.leased, row.with.sent, row.with.fault), f.caught, f.planted, f.other, f.missed[:min(len(f.missed), 6)])
	}
	return table.String()
}

// sound puts sound services under every fault: nothing that the service owes is violated.
func sound(t *testing.T) (n, red int) {
	for _, kind := range []history.Kind{history.Mutex, history.Tried, history.Reentrant, history.ReadWrite, history.Semaphore} {
		for _, fault := range soundFaults {
			for i := range *each {
				seed := uint64(1000 + i)
				with := setting{kind: kind, leased: i%4 != 3, tokens: i%3 != 2, sent: i%3 != 1, fault: fault, fair: i%2 == 1 && kind == history.Mutex, patient: i%5 > 2}
				if !with.leased && fault == "restart" {
					continue
				}
				names, _, r := violated(t, with, seed)
				n++
				for _, name := range names {
					if fault != "" && (ofClients[name] || !with.leased && name == "availability") {
						continue
					}
					red++
					t.Errorf("%+v seed %d: %s: %s", with, seed, name, r.Property(name).Violations[0].Message)
				}
			}
		}
	}
	return n, red
}
