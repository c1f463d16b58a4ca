package corpus

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks/libraries"
	"github.com/dlmtest/dlmtest/scenarios"
)

// TestEntries: each names a scenario, a property and pins that are there.
func TestEntries(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range Entries {
		if seen[e.Name] || e.Reference == "" || e.Anomaly == "" {
			t.Errorf("%s is there twice, or says too little", e.Name)
		}
		seen[e.Name] = true
		if _, known := checker.Find(e.Property); !known {
			t.Errorf("%s: no property is called %q", e.Name, e.Property)
		}
		for _, p := range []Pin{e.Affected, e.Control} {
			if p == (Pin{}) {
				continue
			}
			s, err := scenarios.Load(strings.TrimSpace(or(p.Scenario, e.Scenario)))
			if err != nil {
				t.Errorf("%s: %v", e.Name, err)
				continue
			}
			backend, err := p.On()
			if err == nil {
				_, err = libraries.Find(backend, p.Library)
			}
			if err != nil || !s.Concerns(backend) {
				t.Errorf("%s: %s on %s in %s: %v", e.Name, p, backend, s.Name, err)
			}
		}
	}
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func TestChoose(t *testing.T) {
	if all, err := Choose([]string{"all"}); len(all) != len(Entries) || err != nil {
		t.Error(len(all), err)
	}
	if _, err := Choose([]string{"redsync-always-tru"}); err == nil || !strings.Contains(err.Error(), "redsync-always-true") {
		t.Errorf("no near match: %v", err)
	}
}

func TestLook(t *testing.T) {
	e := Entry{Property: "honest-claims"}
	ops := []history.Op{{Type: history.Note, Time: 5}, {Type: history.Invoke, Time: 1e9}, {Type: history.Invoke, Time: 2e9}}
	result := func(v checker.Verdict, at ...int64) (r checker.Result) {
		p := checker.Property{Name: "honest-claims", Verdict: v}
		for _, t := range at {
			p.Violations = append(p.Violations, checker.Violation{At: t})
		}
		r.Properties = append(r.Properties, checker.Property{Name: "availability", Verdict: checker.Violated}, p)
		return r
	}
	if s := Look(e, result(checker.Violated, 9e9, 4e9), ops); s.Verdict != checker.Violated || s.Detection != 3 {
		t.Errorf("%+v", s)
	}
	if s := Look(e, result(checker.Holds), ops); s.Verdict != checker.Holds || s.Detection != 0 {
		t.Errorf("another property's violation counts: %+v", s)
	}
	if s := Look(e, checker.Result{}, ops); s.Error == "" {
		t.Error("nothing was judged, and that is no error")
	}
}

// TestMet: neither an inconclusive run nor one without a verdict is a success.
func TestMet(t *testing.T) {
	red, green, open, none := Shown{Verdict: checker.Violated, Detection: 2}, Shown{Verdict: checker.Holds}, Shown{Verdict: checker.Unknown}, Shown{Error: "x"}
	for _, c := range []struct {
		affected, control []Shown
		want              bool
	}{
		{[]Shown{red, red}, []Shown{green, green}, true},
		{[]Shown{red}, nil, true},
		{nil, nil, false},
		{[]Shown{red, green}, nil, false},
		{[]Shown{red, open}, nil, false},
		{[]Shown{red, none}, nil, false},
		{[]Shown{red}, []Shown{red}, false},
		{[]Shown{red}, []Shown{open}, false},
		{[]Shown{red}, []Shown{none}, false},
	} {
		if track := (Track{Affected: Sum(c.affected), Control: Sum(c.control)}); track.Met() != c.want {
			t.Errorf("%+v: %v", track, !c.want)
		}
	}
}

func TestRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "record.json")
	r, err := Read(path)
	if err != nil || len(r.Tracks) > 0 {
		t.Fatal(r, err)
	}
	old := Track{Entry: Entries[1].Name, Runtime: "local", Date: "2026-01-01"}
	other := Track{Entry: Entries[1].Name, Runtime: "docker", Date: "2026-01-01"}
	first := Track{Entry: Entries[0].Name, Runtime: "local", Affected: Side{Runs: 2, Found: 2, Detection: 1.5}, Control: Side{Runs: 2, Held: 1, Inconclusive: 1}, Date: "2026-01-03"}
	newer := Track{Entry: Entries[1].Name, Runtime: "local", Date: "2026-01-02"}
	for _, t := range []Track{old, other, first, newer} {
		r.Put(t)
	}
	if err := save(path, r.Write); err != nil {
		t.Fatal(err)
	}
	again, err := Read(path)
	if err != nil || len(again.Tracks) != 3 || !reflect.DeepEqual(again, r) || again.Tracks[0] != first {
		t.Errorf("%+v %v", again, err)
	}
	var page bytes.Buffer
	if err := Markdown(&page, again); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| local | 2 of 2 | 1.5 s | 1 of 2, 1 inconclusive | 2026-01-03 |", "2026-01-02", "never run for this page", "control: none: it was never fixed", "control: none: it was fixed in 5.5.0", "dlmtest run --scenario", " --self-fence check-session --strict`"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page lacks %q:\n%s", want, page.String())
		}
	}
}

// A record may be somebody else's: what stands in it is shown as it is.
func TestMarkdownOfAForeignRecord(t *testing.T) {
	const hostile = "x\n\n# owned\n<img src=//evil> ![i](http://evil) @all |"
	var b strings.Builder
	if err := Markdown(&b, Record{Tracks: []Track{{Entry: Entries[0].Name, Date: hostile, Runtime: hostile}}}); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"\n# owned", "<img", "![i]", " @all |"} {
		if strings.Contains(b.String(), bad) {
			t.Errorf("%q in %s", bad, b.String())
		}
	}
}

func save(path string, write func(io.Writer) error) error {
	var text bytes.Buffer
	return errors.Join(write(&text), os.WriteFile(path, text.Bytes(), 0o600))
}
