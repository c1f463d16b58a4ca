package bounded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/internal/eventually"
)

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		bytes int
		large bool
	}{"empty": {0, false}, "exact": {100, false}, "one more": {101, true}} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(strings.Repeat("a", c.bytes)), 0o600); err != nil {
			t.Fatal(err)
		}
		data, err := ReadFile(path, 100)
		if errors.Is(err, ErrTooLarge) != c.large || !c.large && len(data) != c.bytes {
			t.Errorf("%s: %d bytes, %v", name, len(data), err)
		}
	}
	if _, err := ReadNamed("/dev/zero", 1<<16); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a device that never ends: %v", err)
	}
	if _, err := ReadFile(filepath.Join(dir, "none"), 1); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// bomb has nine lines that unfold to 10^levels values.
func bomb(levels int) string {
	var b strings.Builder
	b.WriteString("a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n")
	for n := 1; n < levels; n++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", n, n, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", n-1), 10), ","))
	}
	return b.String()
}

// manyTags is a text that takes the library half a minute.
func manyTags() string {
	var b strings.Builder
	for i := range 80_000 {
		fmt.Fprintf(&b, "%%TAG !%x! t\n", i)
	}
	return b.String()[:YAML-10] + "\n--- a\n"
}

func TestCheckYAML(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		large bool
	}{
		"plain":             {"a: 1\nb: [1, 2]\n", false},
		"aliases":           {"x: &x {a: 1}\nb: *x\nc: {<<: *x}\n", false},
		"a small unfolding": {bomb(3), false},
		"a bomb":            {bomb(9), true},
		"itself":            {"a: &a [*a]\n", true},
		"many lines":        {strings.Repeat("- a\n", MaxNodes+1), true},
		"many tags":         {manyTags(), true},
		"a few tags":        {"%TAG !a! b\n%TAG !c! d\n---\na: 1\n", false},
		"many bytes":        {"a: " + strings.Repeat("b", YAML), true},
		"deep":              {strings.Repeat("[", 5000) + strings.Repeat("]", 5000), true},
		"no YAML":           {"a: [", false},
	} {
		begun := time.Now()
		if err := CheckYAML("f.yaml", []byte(c.text)); errors.Is(err, ErrTooLarge) != c.large {
			t.Errorf("%s: %v", name, err)
		}
		if took := time.Since(begun); took > eventually.Most {
			t.Errorf("%s took %v", name, took)
		}
	}
}
