package pages

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/jacoelho/xsd"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/junit"
	"github.com/dlmtest/dlmtest/reports/sample"
)

// Every JUnit file of dlmtest is what common viewers read, whatever it says.
func TestJUnitFilesFollowTheSchema(t *testing.T) {
	schema, err := xsd.LoadFile("../testdata/junit.xsd")
	if err != nil {
		t.Fatal(err)
	}
	bad := sample.GCPause(true, 14)
	bad.Result.Properties[0].Reason = `<&"` + "\x01]]>"
	bad.Run.Took = 3 * time.Nanosecond // as a float it would be 3e-09
	killed := reports.Run{Interrupted: "the run was killed"}
	for name, write := range map[string]func(io.Writer) error{
		"run":         func(w io.Writer) error { return junit.Write(w, bad.Run, bad.Result) },
		"killed run":  func(w io.Writer) error { return junit.Write(w, killed, checker.Result{}) },
		"matrix":      func(w io.Writer) error { return IndexJUnit(w, sampleIndex()) },
		"suites":      func(w io.Writer) error { return junit.WriteSuites(w, "gate", time.Second, sampleSuites()) },
		"suites none": func(w io.Writer) error { return junit.WriteSuites(w, "gate", 0, nil) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(name, err)
		}
		if err := schema.Validate(bytes.NewReader(b.Bytes())); err != nil {
			t.Errorf("%s: %v\n%s", name, err, b.String())
		}
	}
}

// The schema does refuse what it should.
func TestSchemaRefuses(t *testing.T) {
	schema, err := xsd.LoadFile("../testdata/junit.xsd")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := junit.WriteSuites(&b, "gate", time.Second, sampleSuites()); err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{
		{`tests="4"`, `tests="four"`}, {`<failure`, `<failed`}, {`time="1.000"`, `time="1e-09"`}, {`classname="a.b"`, ``},
		{`<testcase`, `<error message=""></error><testcase`},
	} {
		wrong := strings.Replace(b.String(), change[0], change[1], 1)
		if wrong == b.String() {
			t.Fatalf("%q is not there:\n%s", change[0], wrong)
		}
		if schema.Validate(strings.NewReader(wrong)) == nil {
			t.Errorf("%q in place of %q is not refused", change[1], change[0])
		}
	}
}

func sampleSuites() []junit.Suite {
	return []junit.Suite{{Name: "a/b", Started: time.Unix(0, 0), Took: time.Second, Cases: []junit.Case{
		{Class: "a.b", Name: "one", Out: "said"},
		{Class: "a.b", Name: "two", State: junit.CaseFailed, Message: "m", Body: "b <&>"},
		{Class: "a.b", Name: "three", State: junit.CaseError, Message: "m"},
		{Class: "a.b", Name: "four", State: junit.CaseSkipped, Message: "m", Out: "said"},
	}}, {Name: "none"}}
}

func TestJUnitSuitesCount(t *testing.T) {
	var b bytes.Buffer
	if err := junit.WriteSuites(&b, "gate", time.Second, sampleSuites()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`<testsuites name="gate" tests="4" failures="1" errors="1" skipped="1"`, `<testsuite name="none" tests="0"`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s is missing in\n%s", want, b.String())
		}
	}
}
