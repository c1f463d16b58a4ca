package junit

import (
	"bytes"
	"encoding/xml"
	"testing"

	"github.com/dlmtest/dlmtest/reports/sample"
)

func TestJUnit(t *testing.T) {
	r := sample.GCPause(true, 14)
	r.Result.Properties[0].Reason = `<&"` + "\x01"
	var b bytes.Buffer
	if err := Write(&b, r.Run, r.Result); err != nil {
		t.Fatal(err)
	}
	var got XMLSuite
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
	r := sample.Quiet(10)
	r.Run.Interrupted = "the daemon went away"
	var b bytes.Buffer
	if err := Write(&b, r.Run, r.Result); err != nil {
		t.Fatal(err)
	}
	var got XMLSuite
	if err := xml.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Errors != 1 || got.Cases[0].Error == nil {
		t.Errorf("%d errors, want the run itself to be one", got.Errors)
	}
}
