package formats

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/checker/models"
)

// linesOf writes operations as EDN: "0 acquire ok a" is a call of process 0 and its end, whose
// answer alone tells the owner.
func linesOf(operations string) string {
	var b strings.Builder
	for _, op := range strings.Split(operations, ", ") {
		w := append(strings.Fields(op), "")
		owner := ""
		if w[3] != "" {
			owner = fmt.Sprintf(" :owner %q", w[3])
		}
		fmt.Fprintf(&b, "{:process %s :type :invoke :f :%s}\n{:process %[1]s :type :%[3]s :f :%[2]s%[4]s}\n", w[0], w[1], w[2], owner)
	}
	return b.String()
}

// TestImplied wants "confirmed" only of what Porcupine says of any owner that an operation may
// be for where the file tells none, and the process's last taken where the verdict needs one.
func TestImplied(t *testing.T) {
	const twice = "0 acquire ok a, 0 release ok a, 0 acquire ok a, 0 release ok a, 1 acquire ok b, 1 release ok b, "
	ask := func(model string, o models.Options, ops []models.Op) string {
		return models.Consult(model, o, ops, 5*time.Second)
	}
	for _, c := range []struct {
		name, model, operations string
		want                    models.Verdict
		oracle                  string
	}{
		{"an unknown acquire is of its process's client", "mutex", twice + "0 acquire info, 1 release ok b", models.Violated, models.Untold},
		{"and its client gives it back", "mutex", twice + "0 acquire info, 5 release ok a", models.Holds, models.Confirmed},
		{"it may have had no effect", "mutex", twice + "0 acquire info, 1 acquire ok b", models.Holds, models.Confirmed},
		{"names are of grants", "mutex", "0 acquire ok a, 0 release ok a, 0 acquire ok b, 0 release ok b, 0 acquire info, 5 release ok c", models.Holds, models.Untold},
		{"nothing tells what names are of", "mutex", "0 acquire ok a, 0 release ok a, 0 acquire info, 5 release ok c", models.Holds, models.Untold},
		{"a release too many, which may be another's", "mutex", "0 acquire ok c, 0 release ok, 1 acquire ok a, 0 release ok", models.Violated, models.Untold},
		{"and nobody else has the lock", "mutex", "0 acquire ok c, 0 release ok, 1 acquire ok a, 1 release ok a, 0 release ok", models.Violated, models.Confirmed},
		{"two holders, and releases that tell nobody before", "mutex", "0 acquire ok c, 0 release ok, 1 acquire ok a, 2 acquire ok b", models.Violated, models.Confirmed},
		{"a renewal, which may be another's", models.Claims, "0 acquire ok c, 1 acquire ok a, 0 extend ok", models.Violated, models.Untold},
		{"a renewal that tells its owner", models.Claims, "0 acquire ok c, 1 acquire ok a, 0 extend ok c", models.Violated, models.Confirmed},
		{"a release that may be another's", "lease-untimed", "0 acquire ok c, 0 release ok, 1 acquire ok a, 0 release ok", models.Violated, models.Untold},
	} {
		_, _, events, err := drain(strings.NewReader(linesOf(c.operations)), Options{})
		if err != nil {
			t.Fatal(c.name, err)
		}
		m, _ := models.Named(c.model)
		o := models.Options{Permits: 1}
		d := m.New(o)
		for _, e := range events {
			if err := d.Add(e); err != nil {
				t.Fatal(c.name, err)
			}
		}
		r := d.End()
		models.Confirm(m, o, events, ask, &r)
		if r.Verdict != c.want || r.Oracle != c.oracle {
			t.Errorf("%s: %s, %q: %s; want %s, %q", c.name, r.Verdict, r.Oracle, r.Reason, c.want, c.oracle)
		}
		mini := models.NewMinimizer(context.Background(), nil, m, o, events)
		for _, v := range r.Violations {
			if small, _ := mini.Minimal(v, ask); small.Oracle != c.oracle {
				t.Errorf("%s: of its smallest history %q, want %q", c.name, small.Oracle, c.oracle)
			}
		}
	}
}
