package checker

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
)

// part is a minimal history as it was handed out, encoded and decoded.
type part struct {
	setup history.Setup
	ops   []history.Op
}

func minimize(t rapid.TB, setup history.Setup, ops []history.Op, result *Result) map[int]part {
	t.Helper()
	parts := map[int]part{}
	err := Minimize(context.Background(), setup, ops, result, func(number int, setup history.Setup, ops []history.Op) (string, history.Setup, []history.Op, error) {
		var file bytes.Buffer
		if err := history.Encode(&file, setup, ops); err != nil {
			return "", setup, ops, err
		}
		setup, ops, err := history.Decode(&file)
		parts[number] = part{setup, ops}
		return fmt.Sprint(number), setup, ops, err
	})
	if err != nil {
		t.Fatal(err)
	}
	return parts
}

// proveMinimal wants a history of each violation that shows it, and no longer does
// without any one of its units.
func proveMinimal(t rapid.TB, result *Result, parts map[int]part) (proven int) {
	t.Helper()
	for i := range result.Properties {
		p := &result.Properties[i]
		for j := range p.Violations {
			v := &p.Violations[j]
			if v.Minimal == nil {
				continue
			}
			if v.Minimal.Why != "" {
				t.Fatalf("%s: %s: %s", p.Name, v.Message, v.Minimal.Why)
			}
			part := parts[v.Number]
			if why := v.Minimal.Again(p.Name, v, part.setup, part.ops); why != "" {
				t.Fatalf("%s: %s: judged again: %s", p.Name, v.Message, why)
			}
			for _, unit := range newMinimizer(context.Background(), part.setup, part.ops).units {
				if again := without1(v, part, unit); again.Again(p.Name, v, again.setup, again.ops) == "" {
					t.Fatalf("%s: %s: %v does not need %v", p.Name, v.Message, v.Minimal.Operations, unit)
				}
			}
			proven++
		}
	}
	return proven
}

type smaller struct {
	Minimal
	part
}

// without1 leaves out one unit of a minimal history.
func without1(v *Violation, p part, unit []int) smaller {
	s := smaller{part: part{setup: p.setup}}
	for i, op := range p.ops {
		if !slices.Contains(unit, i) {
			op.Index = len(s.ops)
			s.ops = append(s.ops, op)
			s.Operations = append(s.Operations, v.Minimal.Operations[i])
		}
	}
	return s
}

// Every golden violation of every property has its minimal history.
func TestMinimalOfScenes(t *testing.T) {
	seen := map[string]int{}
	for property, byName := range scenes {
		for name, scene := range byName {
			t.Run(filepath.Join(property, name), func(t *testing.T) {
				b := newBuilder()
				scene(b)
				setup, ops := b.done()
				result := Judge(setup, ops)
				parts := minimize(t, setup, ops, &result)
				seen[property] += proveMinimal(t, &result, parts)
			})
		}
	}
	for _, c := range Checkers {
		if seen[c.Name] == 0 && c.use == "" {
			t.Errorf("no minimal history of a violation of %s", c.Name)
		}
	}
}

// What means nothing has violations of all kinds, those of odd histories too.
func TestMinimalOfGarbage(t *testing.T) {
	proven, largest := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		setup, ops := garbage(t)
		result := Judge(setup, ops)
		parts := minimize(t, setup, ops, &result)
		proven += proveMinimal(t, &result, parts)
		for _, p := range parts {
			largest = max(largest, len(p.ops))
		}
	})
	if proven < 50 {
		t.Errorf("%d minimal histories: too few to say anything", proven)
	}
	t.Logf("%d minimal histories, the largest of %d operations", proven, largest)
}

// The first violations of each property are made minimal, all name their operations.
func TestMinimalOfMany(t *testing.T) {
	setup, ops := realistic(40000, 20, 1, 0, 300, 3)
	result := Judge(setup, ops)
	parts := minimize(t, setup, ops, &result)
	p := result.Property("mutual-exclusion")
	if len(p.Violations) != 300 {
		t.Fatalf("%d violations, want 300", len(p.Violations))
	}
	for i, v := range p.Violations {
		if len(v.Operations) != 3 || (v.Minimal != nil) != (i < MinimalKept) {
			t.Fatalf("violation %d: %+v", i, v)
		}
		if i == MinimalKept {
			if m := FindMinimal(t.Context(), setup, ops, p.Name, &v); m.Why != "" || len(m.Operations) > 12 {
				t.Errorf("violation %d: %+v", i, m)
			}
		}
	}
	for n, part := range parts {
		if len(part.ops) > 12 {
			t.Errorf("violation %d: %d operations are not few", n, len(part.ops))
		}
	}
	proveMinimal(t, &result, parts)
}

// A violation that cannot be found again is said so, and saved by nobody.
func TestMinimalOfNothing(t *testing.T) {
	setup, ops := realistic(1000, 20, 1, 0, 0, 3)
	r := newRun(setup, ops)
	invented := Violation{Operations: []int{r.Grants[3].Op, r.Grants[4].Op}, Message: "invented"}
	result := Result{Properties: []Property{{Name: "mutual-exclusion", Violations: []Violation{invented}}}}
	if parts := minimize(t, setup, ops, &result); len(parts) != 0 {
		t.Errorf("saved %d", len(parts))
	}
	if got := result.Properties[0].Violations[0].Minimal; got == nil || !strings.Contains(got.Why, "not found again") {
		t.Errorf("%+v", got)
	}
}
