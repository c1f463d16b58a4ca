package reports

import (
	"bytes"
	"encoding/xml"
	"testing"
)

func TestJUnit(t *testing.T) {
	r := gcPause(true, 14)
	r.res.Properties[0].Reason = `<&"` + "\x01"
	var b bytes.Buffer
	if err := JUnit(&b, r.run, r.res); err != nil {
		t.Fatal(err)
	}
	var got junitSuite
	if err := xml.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Tests != 12 || got.Failures != 2 || got.Errors != 1 || got.Skipped != 2 {
		t.Errorf("tests %d failures %d errors %d skipped %d, want 12 2 1 2", got.Tests, got.Failures, got.Errors, got.Skipped)
	}
	if f := got.Cases[1].Failure; f == nil || f.Message == "" || f.Body == "" {
		t.Errorf("the violated property has no failure with a message: %+v", got.Cases[1])
	}
}

func TestJUnitOfAnInterruptedRunIsNotGreen(t *testing.T) {
	r := quiet(10)
	r.run.Interrupted = "the daemon went away"
	var b bytes.Buffer
	if err := JUnit(&b, r.run, r.res); err != nil {
		t.Fatal(err)
	}
	var got junitSuite
	if err := xml.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Errors != 1 || got.Cases[0].Error == nil {
		t.Errorf("%d errors, want the run itself to be one", got.Errors)
	}
}
