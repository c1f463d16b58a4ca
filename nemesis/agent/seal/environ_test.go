package seal_test

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/nemesis/agent/seal"
)

// What a program finds in its environment steers nothing of ours before it is sealed: neither Go's own
// variables nor, where this binary is linked to the C library, a library that is loaded first.
func TestEnvironmentIsTheProgramsAlone(t *testing.T) {
	for name, o := range map[string]seal.Orders{"users": {Way: seal.Users, UID: os.Getuid(), GID: os.Getgid()},
		"namespaces": {Way: seal.Namespaces}, "reaper": {Way: seal.Namespaces, Reaper: true}} {
		if o.Way == seal.Namespaces && tryNamespaces() != nil {
			continue
		}
		long := "LONG=" + strings.Repeat("x", 100_000) // more than a pipe takes at once
		given := []string{"GODEBUG=inittrace=1", "LD_PRELOAD=/no/such/library.so", "RAW=a\xffb\nc", "EMPTY=", long}
		var out, said bytes.Buffer
		cmd := exec.Command("/usr/bin/env", "-0")
		cmd.Env, cmd.Stdout, cmd.Stderr = append([]string{seal.Variable + "=users"}, given...), &out, &said
		if err := o.Start(cmd, cmd.Start); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got, want := out.String(), strings.Join(given, "\x00")+"\x00"; got != want {
			t.Errorf("%s: the program has %.300q", name, got)
		}
		if strings.Contains(said.String(), "init ") {
			t.Errorf("%s: a program of ours heeded GODEBUG: %.200s", name, said.String())
		}
		// env itself is linked to the C library, which says once that there is no such library.
		if n := strings.Count(said.String(), "/no/such/library.so"); n > 1 {
			t.Errorf("%s: a program of ours was to load a library: %s", name, said.String())
		}
	}
}
