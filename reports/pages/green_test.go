package pages

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/reports/junit"
	"github.com/dlmtest/dlmtest/reports/sample"
	"github.com/dlmtest/dlmtest/reports/text"
)

// TestGreenIsTold: how far a green goes stands beside it, wherever a person reads of it.
func TestGreenIsTold(t *testing.T) {
	r := sample.Quiet(400)
	r.Result.Properties[0].Tested = "Tested by one thing alone."
	var terminal, page bytes.Buffer
	if err := text.Write(&terminal, r.Run, r.Setup, r.Ops, r.Result, text.Options{Width: 300}); err != nil {
		t.Fatal(err)
	}
	if err := HTML(&page, r.Run, r.Setup, r.Ops, r.Result); err != nil {
		t.Fatal(err)
	}
	var md, cases bytes.Buffer
	if err := errors.Join(text.Markdown(&md, r.Run, r.Setup, r.Ops, r.Result), junit.Write(&cases, r.Run, r.Result)); err != nil {
		t.Fatal(err)
	}
	for where, text := range map[string]string{"terminal": terminal.String(), "page": page.String(), "Markdown": md.String(), "JUnit": cases.String()} {
		if !strings.Contains(text, "Tested by one thing alone.") {
			t.Errorf("the %s does not say it", where)
		}
	}
}
