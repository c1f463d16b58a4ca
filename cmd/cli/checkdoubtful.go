package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/checker/formats"
	"github.com/dlmtest/dlmtest/checker/models"
)

// doubtful refuses a verdict that would be another if what stands under a name that is not known were read, or if its
// numbers were other than they seem.
func doubtful(cmd *cobra.Command, path string, from *historyFlags, m *modelFlags, r *formats.Reader, found models.Result) error {
	if path == "-" || found.Verdict == models.Unknown {
		return nil
	}
	if several := r.Numbers > 1 && int(r.Numbers) <= m.Permits; several && (from.valueIs == "" || from.guessed) &&
		(m.name == "semaphore" || m.name == "ownerless") {
		return fmt.Errorf("%s: the values of its acquires are whole numbers up to %d and may be numbers of permits, of which an operation takes "+
			"one here: write an operation for each, or say by --value-is %s what they are", path, r.Numbers, strings.Join(formats.ValueRoles, "|"))
	}
	if timed := m.name == "lease" || m.name == "lease-windows"; timed && found.Verdict == models.Holds && r.Leases[0] > 0 && r.Leases[1] == 0 {
		return fmt.Errorf("%s: each lease in it was over before its grant was answered, so it is no test of leases: times and leases "+
			"are nanoseconds; --field lease=- with --lease says how long they are", path)
	}
	for _, reading := range r.Readings() {
		said, err := readOtherwise(cmd, path, from, m, reading, found.Verdict)
		if err != nil {
			return err
		}
		if said != "" {
			name, _, _ := strings.Cut(reading[0], "=")
			return fmt.Errorf("%s: what stands under a name that is not known may decide: passed over the file is %s, with --field %s it %s. "+
				"Give that, or --field %s=-", path, strings.ToUpper(found.Verdict.String()), strings.Join(reading, " --field "), said, name)
		}
	}
	return nil
}

// readOtherwise says what a file is by one more reading, where that matters: a key or an owner may explain what is wrong, a
// token may show it, and an answer both.
func readOtherwise(cmd *cobra.Command, path string, from *historyFlags, m *modelFlags, reading []string, found models.Verdict) (string, error) {
	answer, token := strings.HasSuffix(reading[0], "=answer"), strings.HasSuffix(reading[0], "=token")
	if !answer && token != (found == models.Holds) {
		return "", nil
	}
	one := *from
	one.names = slices.Concat(from.names, reading)
	read, err := readAs(cmd, path, &one, m.Options, m.name)
	if err != nil {
		if answer {
			return "cannot be judged: " + err.Error(), nil
		}
		return "", nil
	}
	if other := read[m.name]; other != nil && other.Verdict != found && other.Verdict != models.Unknown {
		return "is " + strings.ToUpper(other.Verdict.String()), nil
	}
	return "", nil
}

// shortest is the time within which no history of a lock that is asked over a network lies.
const shortest = time.Millisecond

// inWhat says of a lock that kept nobody's lease how times were read, where they may be of another unit.
func inWhat(m *modelFlags, found models.Result) string {
	if m.name != "lease" && m.name != "lease-windows" || found.Verdict != models.Violated || m.Lease == 0 || len(found.Violations) == 0 {
		return ""
	}
	refs := found.Violations[0].Events
	if span := time.Duration(refs[len(refs)-1].Time - refs[0].Time); span > 0 && span < shortest {
		return fmt.Sprintf("Its times are read as nanoseconds, so the events of the first violation lie within %v.", span)
	}
	return ""
}
