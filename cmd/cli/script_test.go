package cli

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(tidied{m}, map[string]func(){"dlmtest": func() { os.Exit(Main(version)) }})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:   "testdata/script",
		Setup: func(e *testscript.Env) error { e.Setenv("DOCKER_HOST", "unix:///nowhere/docker.sock"); return nil },
		Cmds:  map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}

// exits runs a command and wants this exit code: exits 64 dlmtest run
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ARG…")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := "0"
	if err != nil {
		code = err.Error()
		code = code[len("exit status "):]
	}
	if code != args[0] {
		ts.Fatalf("%v exited with %s, want %s", args[1:], code, args[0])
	}
}
