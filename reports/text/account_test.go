package text

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/reports/sample"
	"github.com/dlmtest/dlmtest/reports/story"
)

// explained judges a recorded history and makes its violations minimal.
func explained(t *testing.T, name string) (history.Setup, []history.Op, checker.Result) {
	t.Helper()
	setup, ops := sample.Recorded(t, name)
	result := checker.Judge(setup, ops)
	err := checker.Minimize(t.Context(), setup, ops, &result, func(n int, setup history.Setup, ops []history.Op) (string, history.Setup, []history.Op, error) {
		return fmt.Sprintf("violations/%d.jsonl", n), setup, ops, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return setup, ops, result
}

func violations(r checker.Result) (all []checker.Violation) {
	for _, p := range r.Properties {
		all = append(all, p.Violations...)
	}
	return all
}

// Every violation of the recorded runs is told, and the list of them.
func TestAccounts(t *testing.T) {
	for _, name := range []string{"gc-pause-read-redis", "gc-pause-postgres", "partition-majority-redlock"} {
		setup, ops, result := explained(t, name)
		all := story.Accounts(ops, result)
		var got bytes.Buffer
		if err := List(&got, all, Options{}); err != nil {
			t.Fatal(err)
		}
		for i, v := range violations(result) {
			all[i].Tell(setup, ops, v)
			fmt.Fprintln(&got)
			if err := Account(&got, &all[i], fmt.Sprintf("dlmtest check runs/latest/violations/%d.jsonl", v.Number), Options{}); err != nil {
				t.Fatal(err)
			}
		}
		sample.Same(t, "explain-"+name+".txt", got.Bytes())
	}
}

// What is not sure, or not there, is said.
func TestAccountSays(t *testing.T) {
	setup, ops, result := explained(t, "gc-pause-read-redis")
	v := violations(result)[0]
	for name, c := range map[string]struct {
		change func(*checker.Violation)
		want   []string
	}{
		"possible":    {func(v *checker.Violation) { v.Possible = true }, []string{"(possible, 2.346 s)"}},
		"disturbed":   {func(v *checker.Violation) { v.Disturbed = true }, []string{"(disturbed, 2.346 s)"}},
		"one of many": {func(v *checker.Violation) { v.Minimal = nil }, []string{"The operations that it names", "only for the first 20 violations"}},
		"no minimal": {func(v *checker.Violation) { v.Minimal = &checker.Minimal{Why: "so it is"} },
			[]string{"The operations that it names", "no smallest history: so it is."}},
		"oracle": {func(v *checker.Violation) {
			v.Oracle, v.Minimal.Drawing = "gave up: no answer within 5s", "violations/1.html"
		},
			[]string{"Porcupine  gave up: no answer within 5s", "drawing    violations/1.html"}},
		"hostile": {func(v *checker.Violation) { v.Message = "a\x1b]0;title\ab" }, []string{"a·]0;title·b."}},
	} {
		t.Run(name, func(t *testing.T) {
			v := v
			minimal := *v.Minimal
			v.Minimal = &minimal
			c.change(&v)
			a := story.Accounts(ops, checker.Result{Properties: []checker.Property{{Name: "mutual-exclusion", Violations: []checker.Violation{v}}}})[0]
			a.Tell(setup, ops, v)
			var got bytes.Buffer
			if err := Account(&got, &a, "", Options{}); err != nil {
				t.Fatal(err)
			}
			for _, want := range c.want {
				if !strings.Contains(got.String(), want) {
					t.Errorf("it does not say %q:\n%s", want, got.String())
				}
			}
		})
	}
}

func TestAccountFitsItsWidth(t *testing.T) {
	setup, ops, result := explained(t, "gc-pause-read-redis")
	all := story.Accounts(ops, result)
	all[0].Tell(setup, ops, violations(result)[0])
	for _, width := range []int{60, 80, 140} {
		var b bytes.Buffer
		if err := List(&b, all, Options{Width: width}); err != nil {
			t.Fatal(err)
		}
		if err := Account(&b, &all[0], "", Options{Width: width, Color: true}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if n := text.StringWidthWithoutEscSequences(strings.TrimRight(line, "\n")); n > width {
				t.Errorf("width %d: %d columns: %q", width, n, line)
			}
		}
	}
}

// A lock that is broken a hundred times over has one story, which stands below few lines.
func TestListIsShort(t *testing.T) {
	var all []story.Account
	for i := range 90 {
		all = append(all, story.Account{Number: i + 1, At: "1 s", What: []string{"lock-info", "mutual-exclusion"}[i/80], Message: "so", Sure: "certain"})
	}
	var out strings.Builder
	if err := List(&out, all, Options{Width: 100}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"90 violations", " 5  1 s", "85  1 s", "not shown: 75 of lock-info, 5 of mutual-exclusion; each has its number, and --json lists all"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, &out)
		}
	}
	if lines := strings.Count(out.String(), "\n"); lines > 15 {
		t.Errorf("%d lines", lines)
	}
}
