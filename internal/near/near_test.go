package near_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/internal/near"
)

var words = []string{"lease", "release", "redis", "redlock", "pause", "at", "keys"}

func TestNearest(t *testing.T) {
	for word, want := range map[string][]string{
		"leese": {"lease"}, "LEASE": {"lease", "release"}, "relase": {"release", "lease"}, "redi": {"redis"}, "redsi": {"redis"},
		"key": {"keys"}, "xyzzy": nil, "": nil, "x": nil,
	} {
		if got := near.Nearest(word, words); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}

// Who names the first part of a name means one that begins like that.
func TestNearestBeginning(t *testing.T) {
	bugs := []string{"go-zookeeper-orphan", "go-zero-counts", "redsync-stopped-server", "redsync-always-true", "go"}
	for word, want := range map[string][]string{
		"go-zookeper": {"go-zookeeper-orphan"}, "redsink": {"redsync-always-true", "redsync-stopped-server"}, "redsync-stoped": {"redsync-stopped-server"},
		"orphan": nil, "go": {"go"}, "g": {"go"},
	} {
		if got := near.Nearest(word, bugs); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}

func TestHint(t *testing.T) {
	if got := near.Hint("leese", words); got != `; did you mean "lease"?` {
		t.Error(got)
	}
	if got := near.Hint("xyzzy", []string{"b", "a"}); got != "; there are a, b" {
		t.Error(got)
	}
}

func TestNearestProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.String().Draw(t, "word")
		got := near.Nearest(word, append([]string{word}, words...))
		if len(got) > 3 {
			t.Errorf("%d matches", len(got))
		}
		if word != "" && !slices.Contains(got, word) {
			t.Errorf("%q is not near itself: %q", word, got)
		}
	})
}
