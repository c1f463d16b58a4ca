package say

import (
	"os"
	"testing"
)

func TestCommandIsWhatItsReaderCanType(t *testing.T) {
	was := os.Args[0]
	defer func() { os.Args[0], Own = was, false }()
	command := []string{"dlmtest", "run", "--library", "my lock"}
	for _, c := range []struct {
		called, typed, kept string
		own                 bool
	}{
		{"bin/dlmtest", "bin/dlmtest run --library 'my lock'", "dlmtest run --library 'my lock'", false},
		{"./mylock", "./mylock run --library 'my lock'", "./mylock run --library 'my lock'", true},
	} {
		os.Args[0], Own = c.called, c.own
		if got := Typed(command); got != c.typed {
			t.Errorf("called as %s: typed %s, want %s", c.called, got, c.typed)
		}
		if got := Shell(command); got != c.kept {
			t.Errorf("called as %s: kept %s, want %s", c.called, got, c.kept)
		}
	}
	os.Args[0] = "/tmp/go-build1/b001/exe/mylock"
	if got := called(); got[0] != "go" || got[1] != "run" || len(got) != 3 {
		t.Errorf("a program of go run is called %q", got)
	}
}

// A folder may name any program as the command that repeats it; a shell must not run that.
func TestCommandOfAnotherProgram(t *testing.T) {
	for want, command := range map[string][]string{
		"":                     nil,
		"dlmtest run --seed 7": {"dlmtest", "run", "--seed", "7"},
		"DLMTEST_SEED=7 go test -count=1 -run TestLock .":  {"DLMTEST_SEED=7", "go", "test", "-count=1", "-run", "TestLock", "."},
		"# no command of dlmtest: DLMTEST_SEED=7 go run x": {"DLMTEST_SEED=7", "go", "run", "x"},
		"# no command of dlmtest: sh -c 'a b'":             {"sh", "-c", "a\nb"},
		"# no command of dlmtest: DLMTEST_SEED=7 id":       {"DLMTEST_SEED=7", "id"},
	} {
		if got := Shell(command); got != want {
			t.Errorf("%q: %s, want %s", command, got, want)
		}
	}
}
