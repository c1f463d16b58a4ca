package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/scenarios"
)

func TestChooseBackends(t *testing.T) {
	for _, c := range []struct{ words, want []string }{
		{[]string{"redis"}, []string{"redis"}},
		{[]string{"all"}, locks.Intact()},
		{[]string{"broken/*"}, locks.Controls()},
		{[]string{"all", "broken/*"}, append(locks.Intact(), locks.Controls()...)},
		{[]string{"redlock", "postgres*", "redlock", "", "redis"}, []string{"redlock", "postgres", "postgres-advisory", "redis"}},
		{[]string{"redlock,redis", "etcd"}, []string{"redlock", "redis", "etcd"}},
		{[]string{"red*"}, []string{"redis", "redis-replicated", "redlock"}},
	} {
		if got, err := chooseBackends(c.words); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, %v; want %q", c.words, got, err, c.want)
		}
	}
	for word, want := range map[string]string{
		"":        "--backend is missing",
		"relock":  `unknown backend "relock"; did you mean redlock`,
		"relock*": `unknown backend "relock*"; did you mean redlock`,
		"brokn/*": `unknown backend "brokn/*"; did you mean broken/`,
		"zzzz*":   `unknown backend "zzzz*"; see dlmtest list`,
		"red[":    "no glob",
	} {
		if _, err := chooseBackends([]string{"redis", word}); word != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %s", word, err, want)
		}
	}
	if _, err := chooseBackends([]string{""}); err == nil || !strings.Contains(err.Error(), "--backend is missing") {
		t.Error(err)
	}
}

func TestChooseScenarios(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine, all mine.yaml")
	s, err := scenarios.Load("gc-pause")
	if err != nil {
		t.Fatal(err)
	}
	same := filepath.Join(t.TempDir(), "gc-pause.yaml")
	if err := os.WriteFile(same, s.YAML(), 0o644); err != nil {
		t.Fatal(err)
	}
	s.Name = "mine"
	if err := os.WriteFile(file, s.YAML(), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ words, want []string }{
		{[]string{"baseline", file}, []string{"baseline", "mine"}},
		{[]string{"gc-pause*"}, []string{"gc-pause", "gc-pause-read"}},
		{[]string{"all", "baseline"}, scenarios.Names()},
		{[]string{file, file}, []string{"mine"}},
	} {
		got, err := chooseScenarios(c.words)
		var names []string
		for _, n := range got {
			names = append(names, n.scenario.Name)
		}
		if err != nil || !slices.Equal(names, c.want) {
			t.Errorf("%q: %q, %v; want %q", c.words, names, err, c.want)
		}
	}
	for _, c := range []struct {
		words []string
		want  string
	}{
		{[]string{"baseline", "gc-puase"}, `did you mean "gc-pause"`},
		{[]string{"partitoin-*"}, "did you mean partition-"},
		{[]string{"gc-pause", same}, "two scenarios with the name"},
		{[]string{"nowhere.yaml"}, "no such file"},
		{nil, "--scenario is missing"},
	} {
		if _, err := chooseScenarios(c.words); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.words, err, c.want)
		}
	}
}

func TestCompleteList(t *testing.T) {
	words, _ := completeList([]string{"redis", "etcd"})(nil, nil, "redlock,e")
	if !slices.Equal(words, []string{"redlock,redis", "redlock,etcd"}) {
		t.Errorf("%q", words)
	}
}
