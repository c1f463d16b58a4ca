package pages

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/text"
)

func TestSilences(t *testing.T) {
	for _, c := range []struct {
		p    history.Promise
		want []string
	}{
		{history.Promise{Leased: true}, nil}, // no library
		{history.Promise{Library: "all", Leased: true, Token: true, Session: true, Tries: true, Order: true}, nil},
		{history.Promise{Library: "l", Leased: true, Extends: true, Tries: true, Validity: history.Reckoned}, []string{"no fencing token", "no validity", "no signal of a loss", "no order"}},
		{history.Promise{Library: "l", Leased: true, Session: true, Order: true, Validity: history.Untold, NoLimit: true}, []string{"no fencing token", "no validity", "no try", "no limit of a wait"}},
		// It tells until when, which nobody can prove: that is no silence.
		{history.Promise{Library: "l", Leased: true, Token: true, Session: true, Tries: true, Order: true, Validity: history.Unproven}, nil},
		{history.Promise{Library: "l", Tries: true, Order: true}, []string{"no fencing token", "no signal of a loss", "no lease"}},
	} {
		var got []string
		for _, s := range reports.Silences(c.p) {
			got = append(got, s.Lacks)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q, want %q", c.p, got, c.want)
		}
	}
}

// All three reports say what a library does not tell, and its version.
func TestReportsTellSilence(t *testing.T) {
	setup := history.Setup{Promise: history.Promise{Backend: "redis", Library: "redislock", Version: "v0.10.0", Leased: true, Extends: true, Tries: true, Validity: history.Reckoned}, Lease: 1, Keys: []string{"k"}}
	run := reports.Run{Scenario: "baseline"}
	r := checker.Judge(setup, nil)
	want := []string{"baseline on redis with redislock v0.10.0", "no fencing token: a stale write cannot be refused", "no validity"}
	for name, write := range map[string]func(*bytes.Buffer) error{
		"text":     func(b *bytes.Buffer) error { return text.Write(b, run, setup, nil, r, text.Options{Width: 300}) },
		"markdown": func(b *bytes.Buffer) error { return text.Markdown(b, run, setup, nil, r) },
		"html":     func(b *bytes.Buffer) error { return HTML(b, run, setup, nil, r) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(name, err)
		}
		for _, w := range want {
			if !strings.Contains(b.String(), w) {
				t.Errorf("%s does not say %q:\n%.3000s", name, w, b.String())
			}
		}
	}
}
