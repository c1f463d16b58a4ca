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
