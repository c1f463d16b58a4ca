package scenarios_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/scenarios"
)

func TestBuiltIn(t *testing.T) {
	names := scenarios.Names()
	if len(names) < 4 {
		t.Errorf("only %q", names)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			s, err := scenarios.Load(name)
			if err != nil {
				t.Fatal(err)
			}
			if s.Name != name {
				t.Errorf("its name is %q", s.Name)
			}
			if len(s.Expected) == 0 {
				t.Error("it does not say what is expected")
			}
			roundTrip(t, s)
		})
	}
}

func roundTrip(t *testing.T, s *scenarios.Scenario) {
	t.Helper()
	written := s.YAML()
	back, err := scenarios.Parse("written.yaml", written)
	if err != nil {
		t.Fatalf("%v in\n%s", err, written)
	}
	if !reflect.DeepEqual(s, back) {
		t.Errorf("wrote\n%s\nof %+v\nread %+v", written, s, back)
	}
}

func TestGCPause(t *testing.T) {
	s, err := scenarios.Load("gc-pause")
	if err != nil {
		t.Fatal(err)
	}
	lease := s.Lease.Of(0)
	f := s.Faults[0]
	if lease != 2*time.Second || f.For.Until != "write-accepted" || f.For.Max.Of(lease) != 8*time.Second {
		t.Errorf("%+v", s)
	}
	if s.Expect.StaleWrites != 1 || s.Expect.GrantsDuringFault != 1 {
		t.Errorf("expect %+v", s.Expect)
	}
	e := s.Expected["redlock"]["fenced-writes"]
	if e.Verdict != checker.NA || e.Note == "" {
		t.Errorf("redlock's fenced-writes: %+v", e)
	}
}

func TestDefaults(t *testing.T) {
	s, err := scenarios.Parse("x.yaml", []byte(edit("wait: 4 lease\n", "", "keys: 1\n", "", "after: 1 lease\n", "", "    count: 1\n", "", "    on: acquired\n", "", "target: holder", "target: a-server")))
	if err != nil {
		t.Fatal(err)
	}
	if s.Keys != 1 || s.Wait.Leases != 4 || s.After.Leases != 1 || s.Faults[0].Count != 1 || s.Faults[0].On != "at" {
		t.Errorf("%+v", s)
	}
}

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(path, []byte(good), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := scenarios.Load(path); err != nil || s.Name != "good" {
		t.Errorf("%+v, %v", s, err)
	}
	for name, want := range map[string]string{
		"gc-puase":       `unknown scenario "gc-puase"; did you mean "gc-pause"? (or give the path of a .yaml file)`,
		"":               `unknown scenario ""; there are alike-clients`,
		"../x":           "no such file",
		"there/is.no":    "no such file",
		"nothing.yaml":   "no such file",
		"..":             `unknown scenario ".."`,
		"gc-pause\x00ab": "unknown scenario",
	} {
		if _, err := scenarios.Load(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
	}
}

func TestConcerns(t *testing.T) {
	s := scenarios.Scenario{Backends: []string{"redlock", "broken/*"}}
	for backend, want := range map[string]bool{"redlock": true, "redis": false, "broken/lease-put": true} {
		if s.Concerns(backend) != want {
			t.Errorf("%s: %v", backend, !want)
		}
	}
	if s = (scenarios.Scenario{}); !s.Concerns("redis") {
		t.Error("a scenario that names no backend is about all")
	}
}

func TestAlone(t *testing.T) {
	for name, want := range map[string]bool{"baseline": false, "gc-pause": false, "partition-minority": false,
		"clock-jump": true, "clock-jump-client": true, "crash-amnesia": true, "token-amnesia": true} {
		s, err := scenarios.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		if s.Alone() != want {
			t.Errorf("%s runs alone: %v", name, !want)
		}
	}
}

// The late release of naive-release comes while the second holder is at work, and not as that one releases:
// then it would free nobody, and a broken lock would look sound.
func TestNaiveReleaseMeetsTheSecondHolder(t *testing.T) {
	s, err := scenarios.Load("naive-release")
	if err != nil {
		t.Fatal(err)
	}
	lease := s.Lease.Of(0)
	work := s.Work.Of(lease) // of the first before its pause, and of the second
	into := work + s.Faults[0].For.Min.Of(lease) - lease
	if into < lease/20 || into > work/2 {
		t.Errorf("the first wakes %v into the %v that the second works", into, work)
	}
}

// The file that Validate accepts, a scenario built in Go need not be.
func TestValidateInGo(t *testing.T) {
	s, err := scenarios.Load("gc-pause")
	if err != nil {
		t.Fatal(err)
	}
	s.Work = scenarios.Duration{Fixed: time.Second, Leases: 1}
	s.Clients = 0
	err = s.Validate()
	if err == nil || !strings.Contains(err.Error(), "work: ") || !strings.Contains(err.Error(), "clients: 0 is not between 1 and 100") {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	for _, c := range bad {
		f.Add([]byte(c.file))
	}
	for _, name := range scenarios.Names() {
		data, err := os.ReadFile(name + ".yaml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := scenarios.Parse("fuzz.yaml", data)
		if err == nil {
			roundTrip(t, s)
		} else if !errors.As(err, &scenarios.Problems{}) || err.Error() == "" {
			t.Errorf("%T %v is no Problems", err, err)
		}
	})
}
