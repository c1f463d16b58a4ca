package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// What a library prints goes to the log and breaks no record.
func TestStrayPrintBreaksNoRecord(t *testing.T) {
	if os.Getenv("DLMTEST_STRAY") != "" {
		records, err := ownOutput()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Print("DEBUG ")
		fmt.Fprintln(records, `{"op":{}}`)
		_ = exec.Command("sh", "-c", "echo of a child").Run() // its output is nobody's
		sh := exec.Command("sh", "-c", "echo of a child that prints where we do")
		sh.Stdout = os.Stdout
		_ = sh.Run()
		os.Exit(0)
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestStrayPrintBreaksNoRecord$")
	cmd.Env = append(os.Environ(), "DLMTEST_STRAY=1")
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if out.String() != "{\"op\":{}}\n" || log.String() != "DEBUG of a child that prints where we do\n" {
		t.Errorf("%q, log %q", &out, &log)
	}
}

// A node's first process, and what it starts most often, wait for no package that only commands need. A program of
// somebody else's may have a command of that name.
func TestEarlyRoles(t *testing.T) {
	for _, role := range []string{"agent", "clock"} {
		for name, early := range map[string]bool{"dlmtest": true, "a-lock-of-mine": false} {
			cmd := exec.Command(dlmtest(t), role)
			cmd.Args[0] = name
			cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
			var said bytes.Buffer
			cmd.Stderr = &said
			err := cmd.Run()
			commands := bytes.Contains(said.Bytes(), []byte("init github.com/dlmtest/dlmtest/cmd/cli "))
			if early != (err == nil) || early == commands {
				t.Errorf("%s %s: %v; packages of commands initialized: %v", name, role, err, commands)
			}
		}
	}
}
